package peers

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Following registers metrics with the label peer so that those of a peer that is
// gone are gone, too: an operator who adds and removes peers all day leaves nothing
// behind, and no alert rings for one that was taken out.
type Following struct {
	prometheus.Registerer
	Table *Table
}

// MustRegister implements prometheus.Registerer.
func (f Following) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if v, ok := c.(vector); ok {
			c = series{v, f.Table}
		}
		f.Registerer.MustRegister(c)
	}
}

// vector is any of the library's.
type vector interface {
	prometheus.Collector
	DeletePartialMatch(prometheus.Labels) int
}

// series is a vector without those who are gone.
type series struct {
	vector
	table *Table
}

// Collect implements prometheus.Collector. What was counted under no peer's name
// stays.
func (s series) Collect(to chan<- prometheus.Metric) {
	here := map[string]bool{"": true}
	for _, p := range s.table.All() {
		here[p.Name] = true
	}
	all, gone := make(chan prometheus.Metric), map[string]bool{}
	go func() { s.vector.Collect(all); close(all) }()
	for m := range all {
		if name := peerOf(m); here[name] {
			to <- m
		} else {
			gone[name] = true
		}
	}
	for name := range gone {
		s.DeletePartialMatch(prometheus.Labels{"peer": name})
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
