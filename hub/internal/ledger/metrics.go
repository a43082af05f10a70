package ledger

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	settlements, redemptions, looks *prometheus.CounterVec
	due, readOnly                   prometheus.Gauge
	granted                         prometheus.Counter
	owed, most, owes                *prometheus.GaugeVec // by peer
	unseen, seenAt                  *prometheus.GaugeVec // without a label: there is none before anybody saw the chain
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
	of := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "anet_hub_ledger_" + name, Help: help}, labels)
	}
	m.owed = of("peer_owed", "Credits that a peer owes this hub.", "peer")
	m.most = of("peer_owed_limit", "Credits that a peer may owe this hub; 0 while its payments are not taken.", "peer")
	m.owes = of("peer_due", "Credits that this hub owes a peer.", "peer")
	m.unseen = of("chain_unseen_records", "Records of this hub's chain behind the last that another hub saw.")
	m.seenAt = of("chain_seen_timestamp_seconds", "When another hub last saw the end of this hub's chain.")
	reg.MustRegister(m.settlements, m.redemptions, m.looks, m.due, m.readOnly, m.granted, m.owed, m.most, m.owes, m.unseen, m.seenAt)
	return m
}

func (m *metrics) debt(peer string, d Debt) {
	if !d.Open {
		d.Most = 0
	}
	m.owed.WithLabelValues(peer).Set(float64(d.Owed))
	m.most.WithLabelValues(peer).Set(float64(d.Most))
	m.owes.WithLabelValues(peer).Set(float64(d.Due))
}

func (m *metrics) seen(w Witnessed) {
	m.unseen.WithLabelValues().Set(float64(w.Unwitnessed()))
	m.seenAt.WithLabelValues().Set(float64(w.LatestAt.Unix()))
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
