package learned

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// Metrics count what peers teach. A peer is called by the short name that the
// operator gave it.
type Metrics struct {
	entries *prometheus.CounterVec
	pulls   *prometheus.CounterVec
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		entries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_federation_entries_total",
			Help: "Entries of peers' streams, by what became of them.",
		}, []string{"peer", "stream", "step"}),
		pulls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_federation_pulls_total",
			Help: "Readings of peers' streams, by how they ended.",
		}, []string{"peer", "stream", "outcome"}),
	}
	reg.MustRegister(m.entries, m.pulls)
	return m
}

func (m *Metrics) ended(peer string, s Stream, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.pulls.WithLabelValues(peer, string(s), outcome).Inc()
}

func (m *Metrics) learned(peer string, s Stream, l Lesson) {
	m.count(peer, s, Pass, len(l.Told))
	m.count(peer, s, Take, len(l.Take))
	m.count(peer, s, Drop, len(l.Drop))
	m.count(peer, s, Hold, len(l.Hold))
	m.count(peer, s, Refuse, l.Refused)
}

func (m *Metrics) reviewed(peer string, l ReviewLesson) {
	m.count(peer, peers.Reviews, Take, len(l.Take))
	m.count(peer, peers.Reviews, Refuse, l.Refused)
}

func (m *Metrics) count(peer string, s Stream, step Step, n int) {
	if n > 0 {
		m.entries.WithLabelValues(peer, string(s), step.String()).Add(float64(n))
	}
}
