package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/anet-hub/anet/shared/errs"
)

// metrics counts requests. Its labels are route patterns, a handful of methods
// and status classes, so that no scan of paths can make it grow.
type metrics struct {
	requests *prometheus.CounterVec
	refusals *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_http_requests_total", Help: "Requests by route pattern, method and status class.",
		}, []string{"route", "method", "class"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_http_refusals_total", Help: "Requests refused or failed, by route pattern and kind.",
		}, []string{"route", "kind"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "anet_hub_http_request_seconds", Help: "Time to the end of the answer; polls include their wait.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 60},
		}, []string{"route"}),
	}
	reg.MustRegister(m.requests, m.refusals, m.seconds)
	return m
}

func (m *metrics) request(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, methodLabel(method), strconv.Itoa(status/100)+"xx").Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// refused counts an answer that is a failure. The class of a status does not
// tell a full mailbox, which is its owner's, from a failure of the hub.
func (m *metrics) refused(route string, k errs.Kind) {
	m.refusals.WithLabelValues(route, k.String()).Inc()
}

func methodLabel(m string) string {
	switch m {
	case http.MethodGet, http.MethodPost, http.MethodOptions, http.MethodHead:
		return m
	}
	return "other"
}

// scrape serves the metrics without counting what it is asked for.
func (a *API) scrape() http.HandlerFunc {
	return promhttp.HandlerFor(a.Gather, promhttp.HandlerOpts{}).ServeHTTP
}
