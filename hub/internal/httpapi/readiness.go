package httpapi

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// readiness tells the checks of readyz to whoever watches, each with a value of
// its own and asked at the moment of the scrape: a gauge that a loop writes
// would stand at 1 when the loop hangs.
type readiness struct{ api *API }

var ready = prometheus.NewDesc("anet_hub_ready", "1 while a check of /readyz passes, 0 while it fails.", []string{"check"}, nil)

// Describe names what Collect gives.
func (r readiness) Describe(out chan<- *prometheus.Desc) { out <- ready }

// Collect asks all checks at once, so that one that hangs fails no other.
func (r readiness) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	var all sync.WaitGroup
	for _, c := range r.api.Checks {
		all.Go(func() {
			value := 0.0
			if r.api.passes(ctx, c) {
				value = 1
			}
			out <- prometheus.MustNewConstMetric(ready, prometheus.GaugeValue, value, c.Name)
		})
	}
	all.Wait()
}
