package ledger

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	settlements, redemptions, looks *prometheus.CounterVec
	due, readOnly                   prometheus.Gauge
	granted                         prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		settlements: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_ledger_settlements_total", Help: "Payments by outcome: settled, replayed, or the constant of the refusal.",
		}, []string{"outcome"}),
		redemptions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_ledger_redemptions_total", Help: "Redemptions by outcome: redeemed, replayed, or the constant of the refusal.",
		}, []string{"outcome"}),
		looks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_ledger_witness_total", Help: "Looks at the chains of peers: attested, failed, or went_back where a chain is not what it was.",
		}, []string{"outcome"}),
		due: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anet_hub_ledger_grants_due", Help: "Registration grants that wait to be booked."}),
		readOnly: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anet_hub_ledger_read_only", Help: "1 while the books were restored and wait to be audited."}),
		granted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anet_hub_ledger_grants_total", Help: "Registration grants that this process took."}),
	}
	reg.MustRegister(m.settlements, m.redemptions, m.looks, m.due, m.readOnly, m.granted)
	return m
}

func (m *metrics) waiting(due int64, readOnly bool) {
	m.due.Set(float64(due))
	m.readOnly.Set(0)
	if readOnly {
		m.readOnly.Set(1)
	}
}

func (m *metrics) settlement(outcome string) { m.settlements.WithLabelValues(outcome).Inc() }
func (m *metrics) redemption(outcome string) { m.redemptions.WithLabelValues(outcome).Inc() }
func (m *metrics) witness(outcome string)    { m.looks.WithLabelValues(outcome).Inc() }
