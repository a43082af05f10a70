package stage

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// Series are the lines of a hub's /metrics, by name and labels.
func Series(t testing.TB, h *Hub) map[string]float64 {
	t.Helper()
	answer := h.Get(t, "/metrics")
	series := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(answer.Body)); lines.Scan(); {
		line := lines.Text()
		if cut := strings.LastIndexByte(line, ' '); cut > 0 && line[0] != '#' {
			series[line[:cut]], _ = strconv.ParseFloat(line[cut+1:], 64)
		}
	}
	return series
}

// Metric is one series of a hub. One that is not there ends the story: a
// renamed metric must not read as zero.
func Metric(t testing.TB, h *Hub, name string) float64 {
	t.Helper()
	v, found := Series(t, h)[name]
	if !found {
		t.Fatalf("the hub has no metric %s", name)
	}
	return v
}
