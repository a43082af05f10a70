package hubclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const aid = "bafyreiaa"

func TestLookupsKeepTheAIDOutOfTheRequestLine(t *testing.T) {
	hub := newHub(t, says(200, `{"aid":"bafyreiaa","keyset":"AQ==","kel":"Ag=="}`))
	c := joined(t, hub, controller(t))
	if got, err := c.Keys(t.Context(), aid); err != nil || string(got.Keyset) != "\x01" || string(got.KEL) != "\x02" {
		t.Errorf("Keys = %+v, %v", got, err)
	}
	if got, err := c.KEL(t.Context(), aid); err != nil || string(got.KEL) != "\x02" {
		t.Errorf("KEL = %+v, %v", got, err)
	}
	if got, err := c.Card(t.Context(), aid); err != nil || len(got) == 0 {
		t.Errorf("Card = %s, %v", got, err)
	}
	for i, want := range []string{"/agents/keys:lookup", "/agents/kel:lookup", "/a2a/v1/agents/card:lookup"} {
		if got := hub.requests[i]; got.method != http.MethodPost || got.target != want || got.body != `{"aid":"bafyreiaa"}` {
			t.Errorf("request %d: %s %s %s", i, got.method, got.target, got.body)
		}
	}
}

func TestLookupFallsBackWhereTheRouteIsMissing(t *testing.T) {
	tests := []struct {
		name   string
		post   http.HandlerFunc
		asked  int
		reason string
	}{
		{"missing route", says(404, "404 page not found"), 2, ""},
		{"other method", says(405, ""), 2, ""},
		{"empty JSON", says(404, "{}"), 2, ""},
		{"missing agent", says(404, `{"error":"no such agent"}`), 1, "hub_not_found"},
		{"missing set at ours", says(404, `{"error":"no keys","code":"keys_unknown"}`), 1, "keys_unknown"},
		{"limited", says(429, ""), 1, "hub_too_many"},
	}
	for _, tt := range tests {
		hub := newHub(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				tt.post(w, r)
				return
			}
			fmt.Fprintf(w, `{"aid":%q}`, r.URL.Path)
		})
		got, err := joined(t, hub, controller(t)).Keys(t.Context(), aid)
		if tt.reason != "" && !errs.Is(err, tt.reason) || tt.reason == "" && (err != nil || got.AID != "/agents/bafyreiaa/keys") {
			t.Errorf("%s: Keys = %+v, %v", tt.name, got, err)
		}
		if len(hub.requests) != tt.asked {
			t.Errorf("%s: %d requests, want %d", tt.name, len(hub.requests), tt.asked)
		}
	}
}

func TestFindAsksOneQuestion(t *testing.T) {
	tests := []struct {
		name string
		q    Query
		want string
	}{
		{"everybody", Query{}, "/agents"},
		{"family", Query{Cap: "text.*"}, "/agents?cap=text.%2A"},
		{"text", Query{Text: "a b&c", Limit: 5}, "/agents?limit=5&q=a+b%26c"},
		{"next page", Query{Cap: "a@b/c", Cursor: "x"}, "/agents?cap=a%40b%2Fc&cursor=x"},
	}
	for _, tt := range tests {
		hub := newHub(t, says(200, `{"agents":[{"aid":"b","name":"n","caps":["a"],"registered_at":"2026-01-02T03:04:05Z","registered":true}]}`))
		got, err := joined(t, hub, controller(t)).Find(t.Context(), tt.q)
		if err != nil || len(got.Agents) != 1 || hub.last(t).target != tt.want {
			t.Errorf("%s: %+v, %v, asked %s", tt.name, got, err, hub.last(t).target)
		}
	}
	c := joined(t, newHub(t, says(200, `{}`)), controller(t))
	if _, err := c.Find(t.Context(), Query{Cap: "a", Text: "b"}); !errs.Is(err, "two_questions") {
		t.Errorf("two questions at once: %v", err)
	}
}

func TestAllWalksThePages(t *testing.T) {
	pages := map[string]string{
		"":  `{"agents":[{"aid":"1"},{"aid":"2"}],"next_cursor":"x"}`,
		"x": `{"agents":[],"next_cursor":"y"}`,
		"y": `{"agents":[{"aid":"3"}]}`,
		"s": `{"agents":[{"aid":"4"}],"next_cursor":"s"}`,
	}
	hub := newHub(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, pages[r.URL.Query().Get("cursor")]) })
	c := joined(t, hub, controller(t))
	tests := []struct {
		name, start, want string
		fails             bool
	}{
		{"three pages", "", "123", false},
		{"a hub that does not move on", "s", "", true},
	}
	for _, tt := range tests {
		var got strings.Builder
		var failed error
		for agent, err := range c.All(t.Context(), Query{Cursor: tt.start}) {
			got.WriteString(agent.AID)
			failed = err
		}
		if got.String() != tt.want || (failed != nil) != tt.fails {
			t.Errorf("%s: %q, %v", tt.name, got.String(), failed)
		}
	}
}

// drip gives a byte every interval.
type drip struct{ every time.Duration }

func (d drip) Read(b []byte) (int, error) {
	time.Sleep(d.every)
	return copy(b, "x"), nil
}

func TestTransfersKeepAPace(t *testing.T) {
	tests := []struct {
		name string
		size int
		wait time.Duration
		read func(*pace, context.Context)
		want time.Duration
	}{
		{"no answer", 0, 0, func(p *pace, ctx context.Context) { <-ctx.Done() }, patience},
		{"no answer to a long poll", 0, time.Minute, func(p *pace, ctx context.Context) { <-ctx.Done() }, time.Minute + patience},
		{"a large request may travel", 10 * slowest, 0, func(p *pace, ctx context.Context) { <-ctx.Done() }, 10*time.Second + patience},
		{"an answer byte by byte", 0, 0, func(p *pace, ctx context.Context) {
			r := p.of(drip{time.Second})
			for ctx.Err() == nil {
				r.Read(make([]byte, 1))
			}
		}, patience},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, p := begin(t.Context(), tt.size, tt.wait)
			defer p.end()
			tt.read(p, ctx)
			if got := time.Since(start); got < tt.want || got > tt.want+time.Second {
				t.Errorf("%s: given up after %v, want %v", tt.name, got, tt.want)
			}
			if !errors.Is(context.Cause(ctx), errTooSlow) {
				t.Errorf("%s: cause %v", tt.name, context.Cause(ctx))
			}
		})
	}
}
