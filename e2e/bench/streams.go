package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
	"github.com/anet-hub/anet/shared/wire"
)

// newFederated starts a hub full of agents that it tells its peers of.
func newFederated(t testing.TB, o options) (h *stage.HubProcess, database string) {
	t.Helper()
	h = stage.StartHub(t, stage.HubConfig{Args: append([]string{"--federation-discovery", "on"}, freely...)})
	database, err := bench.DatabaseURL(h.Config.DataDir)
	stage.Must(t, err)
	start := time.Now()
	say("  signing and filling in %d agents", o.Federated)
	stage.Must(t, bench.Federated{N: o.Federated, Hub: "https://hub.example.org", Now: time.Now()}.Fill(t.Context(), database))
	say("  filled in %s", time.Since(start).Round(time.Second))
	return h, database
}

// streams compares what peers read of a hub with reading the same rows, the last
// pages with the first, and what an agent costs that they are told of with one that
// stays in its hub.
func streams(t testing.TB, o options) []Row {
	h, database := newFederated(t, o)
	conn := connect(t, database, 1)[0]
	var walked, bare, last sample
	for i := range o.Rounds {
		pages := walk(t, h, o.Federated, fmt.Sprintf("198.51.100.%d", i+1))
		walked, last = append(walked, float64(o.Federated)/pages.sum()*1000), append(last, pages[len(pages)*9/10:].median()/pages[:len(pages)/10+1].median())
		bare = append(bare, copyEntries(t, conn, o.Federated))
		say("  over HTTP %.0f/s, bare rows %.0f/s, a last page takes %.2f of a first", walked[len(walked)-1], bare[len(bare)-1], last[len(last)-1])
	}
	ratio := walked.over(bare)
	return append([]Row{
		{What: fmt.Sprintf("stream of %d cards over HTTP, to bare rows", o.Federated), Measured: ratio.with("%.2f"), Target: "≥ 0.3", Pass: ratio.median() >= 0.3,
			Note: fmt.Sprintf("%s entries/s in pages of 100, one after the other; %s/s as rows of one statement", walked, bare)},
		{What: "stream, last pages to first", Measured: last.with("%.2f"), Target: "≤ 1.3", Pass: last.median() <= 1.3},
	}, told(t, h, o))
}

// walk reads the stream of cards to its end, and gives what each page took, in
// milliseconds. Who reads has so many pages a minute for its address.
func walk(t testing.TB, h *stage.HubProcess, want int, as string) (took sample) {
	t.Helper()
	on, seen := dial(t, h.URL, 1)[0], 0
	for cursor := int64(0); ; {
		began := time.Now()
		r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/fed/v2/cards?cursor=%d", h.URL, cursor), nil)
		stage.Must(t, err)
		r.Header.Set("X-Real-IP", as)
		raw, err := on.ask(request(t, r))
		stage.Must(t, err)
		took = append(took, float64(time.Since(began).Microseconds())/1000)
		var page wire.FedCards
		stage.Must(t, json.Unmarshal(raw, &page))
		if page.Cursor == cursor {
			break
		}
		seen, cursor = seen+len(page.Cards), page.Cursor
	}
	if seen != want {
		t.Fatalf("%d entries, want %d", seen, want)
	}
	return took
}

// copyEntries reads what the entries are made of, and gives how many a second.
func copyEntries(t testing.TB, conn *pgx.Conn, want int) float64 {
	t.Helper()
	began, n := time.Now(), 0
	rows, err := conn.Query(t.Context(), `
		SELECT f.fed_seq, c.card, m.kel, k.keyset FROM feed f
		JOIN agent_card c USING (aid) JOIN member m USING (aid) JOIN agent_keyset k USING (aid)
		WHERE f.stream = 2 ORDER BY f.fed_seq`)
	stage.Must(t, err)
	for rows.Next() {
		n++
	}
	stage.Must(t, rows.Err())
	if n != want {
		t.Fatalf("%d rows, want %d", n, want)
	}
	return float64(n) / time.Since(began).Seconds()
}

// told compares registrations with new cards.
func told(t testing.TB, h *stage.HubProcess, o options) Row {
	local, open := applicants(t, h.Hub, turns), applicants(t, h.Hub, turns)
	lines := dial(t, h.URL, o.Workers)
	drain(t, lines, append(local.requests(t), open.requests(t)...))
	drain(t, lines, open.widen(t))
	var stays, goes sample
	for i := range o.Rounds {
		for _, c := range []crowd{local, open} {
			c.recard(t, int64(2+i))
		}
		first, second := local.requests(t), open.requests(t)
		lines := dial(t, h.URL, o.Workers)
		stays, goes = append(stays, drain(t, lines, first)), append(goes, drain(t, lines, second))
		say("  with a new card: hub-local %.0f/s, federated %.0f/s", stays[i], goes[i])
	}
	ratio := goes.over(stays)
	return Row{What: "registrations with a new card, federated to hub-local", Measured: ratio.with("%.2f"), Target: "≥ 0.9", Pass: ratio.median() >= 0.9,
		Note: fmt.Sprintf("%s/s federated, %s/s hub-local", goes, stays)}
}

// widen are the requests that let peers learn of each.
func (c crowd) widen(t testing.TB) [][]byte {
	out := make([][]byte, len(c))
	for i, a := range c {
		body, err := json.Marshal(wire.Visibility{Visibility: "federated"})
		stage.Must(t, err)
		out[i] = request(t, a.Request(wire.ActionVisibility, "/agents/"+a.AID()+"/visibility", body))
	}
	return out
}

// recard gives each a newer card.
func (c crowd) recard(t testing.TB, seq int64) {
	t.Helper()
	for i := range c {
		var err error
		c[i].body, err = registration(c[i].Agent, i, seq)
		stage.Must(t, err)
	}
}
