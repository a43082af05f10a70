package peers

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Series are counters with the label peer. Those of a peer that is gone are gone,
// too: an operator who adds and removes peers all day leaves nothing behind, and
// no alert rings for one that was taken out.
type Series struct {
	table *Table
	vecs  []*prometheus.CounterVec
}

// NewSeries makes one collector of counters, to be registered in their place.
func NewSeries(t *Table, vecs ...*prometheus.CounterVec) *Series { return &Series{t, vecs} }

// Describe implements prometheus.Collector.
func (s *Series) Describe(to chan<- *prometheus.Desc) {
	for _, v := range s.vecs {
		v.Describe(to)
	}
}

// Collect implements prometheus.Collector. What was counted under no peer's name
// stays.
func (s *Series) Collect(to chan<- prometheus.Metric) {
	here := map[string]bool{"": true}
	for _, p := range s.table.All() {
		here[p.Name] = true
	}
	for _, v := range s.vecs {
		all := make(chan prometheus.Metric)
		go func() { v.Collect(all); close(all) }()
		gone := map[string]bool{}
		for m := range all {
			if name := peerOf(m); here[name] {
				to <- m
			} else {
				gone[name] = true
			}
		}
		for name := range gone {
			v.DeletePartialMatch(prometheus.Labels{"peer": name})
		}
	}
}

// peerOf is the value of the label peer.
func peerOf(m prometheus.Metric) string {
	var written dto.Metric
	if m.Write(&written) != nil {
		return ""
	}
	for _, l := range written.GetLabel() {
		if l.GetName() == "peer" {
			return l.GetValue()
		}
	}
	return ""
}
