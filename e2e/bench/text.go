package main

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// texts asks ?q= while nothing else is asked: for a word everybody uses, one
// that a few hundred use, one that one agent uses, and one that nobody does.
func (w *town) texts(t testing.TB) (rows []Row) {
	line := dial(t, w.URL, 1)[0]
	for _, q := range []struct{ name, text string }{
		{"everybody's word", "day and night"},
		{"a word of some", w.ID(0, 0)},
		{"a word of one", fmt.Sprintf("number %d ", w.N/2)},
		{"nobody's word", "nowhere"},
	} {
		request := get(t, fmt.Sprintf("%s/agents?q=%s&limit=%d", w.URL, url.QueryEscape(q.text), pageSize))
		took, err := timed(40, func(int) error {
			_, err := line.ask(request)
			return err
		})
		stage.Must(t, err)
		ms := millis(took)
		rows = append(rows, Row{What: "?q=, " + q.name, Measured: fmt.Sprintf("%.1f ms", ms.median()),
			Target: "< 50 ms", Pass: ms.median() < 50, Goal: "< 20 ms", Met: ms.median() < 20,
			Note: fmt.Sprintf("median of %d first pages; the slowest %.1f ms", len(ms), ms.at(1))})
	}
	return rows
}
