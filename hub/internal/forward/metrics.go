package forward

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
)

// Metrics count what goes from hub to hub. Peers are called by the short names
// their operator gave them, so that there are as many series as peers.
type Metrics struct{ out, in *prometheus.CounterVec }

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		out: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_forward_offered_total", Help: "Messages offered to a peer, by outcome: taken, or the kind of refusal.",
		}, []string{"peer", "outcome"}),
		in: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anet_hub_forward_received_total", Help: "Messages that a peer brought, or that came in its name, by outcome: queued, duplicate, or the kind of refusal.",
		}, []string{"peer", "outcome"}),
	}
	reg.MustRegister(m.out, m.in)
	return m
}

func (m *Metrics) sent(p peers.Peer, err error) {
	m.out.WithLabelValues(p.Name, outcome(err, "taken")).Inc()
}

// received counts what no peer brought under no name.
func (m *Metrics) received(p peers.Peer, err error) {
	done := "queued"
	if isDuplicate(err) {
		done, err = "duplicate", nil
	}
	m.in.WithLabelValues(p.Name, outcome(err, done)).Inc()
}

func outcome(err error, done string) string {
	if err == nil {
		return done
	}
	return errs.KindOf(err).String()
}
