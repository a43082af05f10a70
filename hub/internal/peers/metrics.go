package peers

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("anet_hub_peer_"+name, help, append([]string{"peer"}, labels...), nil)
}

// What is told of each peer, under the short name that its operator gave it.
var (
	proven      = describe("proven", "1 while the peer has proven its AID.")
	circuitOpen = describe("circuit_open", "1 while this process leaves the peer alone, since it did not answer.")
	lastSuccess = describe("last_success_timestamp_seconds", "When the peer last answered as it should; 0 for never.")
	lag         = describe("pull_lag_seconds", "Since when a stream of the peer was not read to its end.", "stream")
	entriesHeld = describe("entries_held", "Entries of a stream of the peer that are refused for now.", "stream")
	agents      = describe("agents", "Agents known from the peer.")
)

// Describe implements prometheus.Collector.
func (w *Watch) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{proven, circuitOpen, lastSuccess, lag, entriesHeld, agents} {
		to <- d
	}
}

// Collect implements prometheus.Collector. There are as many series as peers.
func (w *Watch) Collect(to chan<- prometheus.Metric) {
	now := w.now()
	for _, r := range w.Reports() {
		tell := func(d *prometheus.Desc, v float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{r.Name}, labels...)...)
		}
		tell(proven, flag(r.Proven()))
		tell(circuitOpen, flag(r.Open))
		// Nothing is asked of a peer that is paused, and its silence says nothing.
		if !r.Paused && !r.AddedAt.IsZero() {
			tell(lastSuccess, seconds(r.LastSuccess))
		}
		tell(agents, float64(r.Agents))
		for _, s := range r.Streams {
			tell(entriesHeld, float64(s.Held), string(s.Stream))
			if w.table.DiscoveryOn() && r.Discovers() {
				tell(lag, now.Sub(latest(s.LastOK, r.AddedAt)).Seconds(), string(s.Stream))
			}
		}
	}
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
