package relay

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/shared/errs"
)

type metrics struct {
	sends   *prometheus.CounterVec
	acked   prometheus.Counter
	expired prometheus.Counter
	swept   prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer, r *Relay) *metrics {
	m := &metrics{
		sends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_relay_sends_total", Help: "Sends by outcome: queued, forwarded, or the kind of refusal.",
		}, []string{"outcome"}),
		acked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anet_hub_relay_acked_total", Help: "Messages acknowledged by their recipients."}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anet_hub_relay_expired_total", Help: "Messages thrown away by this process because their lifetime was over."}),
		swept: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anet_hub_relay_expiry_seconds", Help: "When this process last found no mail left whose lifetime was over, as seconds since 1970."}),
	}
	m.swept.Set(seconds(r.Now()))
	reg.MustRegister(m.sends, m.acked, m.expired, m.swept,
		gauge("mail_messages", "Messages waiting in all mailboxes.", r.held.messages.Load),
		gauge("mail_bytes", "Bytes waiting in all mailboxes.", r.held.bytes.Load),
		gauge("mail_bytes_limit", "Bytes that may wait in all mailboxes.", func() int64 { return r.Limits.Total }),
		gauge("mailboxes_used", "Mailboxes with mail in them.", r.held.mailboxes.Load),
		gauge("polls_waiting", "Polls that wait at this process.", func() int64 { return int64(r.Board.Waiting()) }))
	return m
}

func gauge(name, help string, value func() int64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "anet_hub_relay_" + name, Help: help},
		func() float64 { return float64(value()) })
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// send counts an outcome. Kinds are few, reasons could grow.
func (m *metrics) send(sent Sent, err error) {
	outcome := "queued"
	switch {
	case err != nil:
		outcome = errs.KindOf(err).String()
	case sent.Via != "":
		outcome = "forwarded"
	}
	m.sends.WithLabelValues(outcome).Inc()
}
