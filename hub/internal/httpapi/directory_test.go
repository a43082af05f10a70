package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/testkit/golden"
	"github.com/anet-hub/anet/shared/wire"
)

// The answers as others see them, written down.
func TestDirectoryTranscript(t *testing.T) {
	w := newTown(t)
	alice, bob := w.node("alice"), w.node("bob")
	r := alice.Register("alice", "text.digest", "digest", "x*")
	r.Summary, r.Readme, r.Pricing = "digests & more", "# How", "free"
	r.A2ACard = alice.Card(1, testNow, "Alice's digester", "text.digest", "text.wordcount")
	var out bytes.Buffer
	show := func(r *http.Request) {
		a := w.do(r)
		fmt.Fprintf(&out, "> %s %s\n< %d %s\n%s\n\n", r.Method, r.RequestURI, a.StatusCode, a.Header.Get("Content-Type"), bytes.TrimSpace(a.raw))
	}
	get := func(target string) { show(httptest.NewRequest(http.MethodGet, target, nil)) }
	show(w.signed(alice, wire.ActionRegister, "/register", r))
	show(w.signed(alice, wire.ActionRegister, "/register", r))
	show(w.signed(bob, wire.ActionRegister, "/register", bob.Register("bob", "text.digest")))
	show(w.signed(bob, wire.ActionProfile, "/profile", wire.Profile{Summary: "me too"}))
	show(w.signed(bob, wire.ActionVisibility, "/agents/"+bob.AID()+"/visibility", wire.Visibility{Visibility: "public"}))
	show(w.signed(bob, wire.ActionP2P, "/agents/"+bob.AID()+"/p2p", wire.P2P{Addr: "tcp://192.0.2.7:4000"}))
	for _, target := range []string{
		"/agents?cap=text.*", "/agents?cap=text.digest&limit=1", "/agents?cap=nobody.serves.this", "/agents?q=MORE",
		"/agents?cap=", "/agents?limit=0", "/agents/" + alice.AID(), "/agents/" + alice.AID() + "/kel",
		"/agents/" + alice.AID() + "/jwks.json", "/agents/" + w.hub.AID() + "/kel", "/agents/" + bob.AID() + "/p2p",
		"/agents/" + bob.AID() + "/keys", "/a2a/v1/agents?skill=text.digest", "/a2a/v1/agents/" + alice.AID() + "/card",
		"/graph?limit=1", "/stats", "/p2p/peers",
	} {
		get(target)
	}
	receipt, review := reviewtest.DoneAs("ix_one", bob.Key, alice.Key, 4, testNow).Sign(t)
	said, _ := json.Marshal(wire.SubmitReview{Receipt: receipt, Review: review})
	show(httptest.NewRequest(http.MethodPost, "/reviews", bytes.NewReader(said)))
	for _, target := range []string{"/agents?cap=text.digest&limit=1", "/agents/" + bob.AID(), "/agents/" + bob.AID() + "/reputation", "/graph", "/stats"} {
		get(target)
	}
	show(w.signed(bob, wire.ActionDeregister, "/agents/"+bob.AID()+"/deregister", struct{}{}))
	get("/agents/" + bob.AID())
	get("/agents/" + bob.AID() + "/kel")
	masked := regexp.MustCompile(`"request_id":"[0-9a-f]+"`).ReplaceAll(out.Bytes(), []byte(`"request_id":"…"`))
	golden.Equal(t, "testdata/directory.txt", masked)
}

// What is listed is what was declared; an exact question never turns into
// a text search.
func TestExactNeverBecomesFuzzy(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	r := n.Register("alice", "digest")
	r.A2ACard = n.Card(1, testNow, "alice", "text.digest")
	w.mustRegister(n, r)
	for query, want := range map[string]int{
		"cap=digest": 1, "cap=text.digest": 1, "q=digest": 1, "q=DIGEST": 1, "cap=text.*": 1, "cap=*": 1,
		"cap=TEXT.DIGEST": 0, "cap=dig": 0, "cap=text": 0, "cap=text.dig": 0, "cap=text.digest%20": 1, "cap=,text.digest,,": 1,
		"cap=nobody&q=digest": 0,
	} {
		a := w.get("/agents?" + query)
		if a.StatusCode != 200 || len(aids(a)) != want {
			t.Errorf("%s: %d %s, want %d agents", query, a.StatusCode, a.raw, want)
		}
	}
	if a := w.get("/agents?cap=nobody"); string(a.raw) != `{"agents":[],"limit":1000}`+"\n" {
		t.Errorf("nobody serves it: %s", a.raw)
	}
}

// What cannot be answered is refused, never answered with page one.
func TestBrokenQuestionsAreRefused(t *testing.T) {
	w := newTown(t)
	for i := range 3 {
		n := w.node(fmt.Sprint("n", i))
		w.mustRegister(n, n.Register("n", "x.y", "z.a"))
	}
	next := w.get("/agents?cap=x.y&limit=2").body["next_cursor"].(string)
	cards := func(q string) string { return "/a2a/v1/agents?" + q }
	list := func(q string) string { return "/agents?" + q }
	for _, c := range []struct{ target, field string }{
		{list("cap="), "cap"}, {list("cap=,%20,"), "cap"}, {list("cap=*x"), "cap"}, {list("cap=a*c"), "cap"}, {list("cap=a%00*"), "cap"},
		{list("cap=a%ff"), "cap"}, {list("q=%00"), "q"}, {list("q=%ff"), "q"}, {list("q=" + strings.Repeat("a", 257)), "q"},
		{list("limit=0"), "limit"}, {list("limit=-1"), "limit"}, {list("limit=abc"), "limit"}, {list("limit="), "limit"},
		{list("cap=x.y&cursor=bogus"), "cursor"}, {list("cap=x.y&cursor=" + next[:len(next)-1]), "cursor"},
		{list("cap=z.*&cursor=" + next), "cursor"}, {list("cursor=" + next), "cursor"}, {list("q=%zz"), "query"},
		{cards("skill="), "skill"}, {cards("tag="), "tag"}, {cards("skill=%00"), "skill"}, {cards("q=" + strings.Repeat("a", 257)), "q"},
		{cards("limit=0"), "limit"}, {cards("limit=x"), "limit"}, {cards("cursor=bogus"), "cursor"}, {cards("cursor=AA"), "cursor"},
		{"/graph?limit=0", "limit"}, {"/graph?cursor=x", "cursor"},
	} {
		a := w.get(c.target)
		if a.StatusCode != 400 || a.body["field"] != c.field || a.code() == "" {
			t.Errorf("%s: %d %s, want 400 for %s", c.target, a.StatusCode, a.raw, c.field)
		}
	}
	if a := w.get("/agents?limit=1000000"); a.StatusCode != 200 || a.body["limit"] != 1000.0 {
		t.Errorf("an over-large limit: %d %s", a.StatusCode, a.raw)
	}
	if a := w.get("/a2a/v1/agents?limit=1000"); a.StatusCode != 200 || a.body["limit"] != 200.0 {
		t.Errorf("an over-large limit of cards: %d %s", a.StatusCode, a.raw)
	}
	if a := w.get("/agents?cap=x.y&cursor=" + next); len(aids(a)) != 1 || a.body["next_cursor"] != nil {
		t.Errorf("the second page: %s", a.raw)
	}
}

// A zero byte is the same mistake in path, query and body.
func TestZeroBytesAreRefusedEverywhere(t *testing.T) {
	w := newTown(t)
	for target, field := range map[string]string{
		"/agents/%00": "aid", "/agents/a%00b/kel": "aid", "/agents/%ff/keys": "aid", "/agents/%00/card": "aid",
		"/agents/%00/p2p": "aid", "/agents/%00/jwks.json": "aid", "/a2a/v1/agents/%00/card": "aid",
		"/agents?q=%00": "q", "/agents?cap=a%00": "cap",
	} {
		if a := w.get(target); a.StatusCode != 400 || a.body["field"] != field {
			t.Errorf("GET %s: %d %s, want 400 for %s", target, a.StatusCode, a.raw, field)
		}
	}
	for _, target := range []string{"/agents/keys:lookup", "/agents/kel:lookup", "/a2a/v1/agents/card:lookup"} {
		for _, body := range []string{`{"aid":"a\u0000b"}`, `{"aid":""}`, `{}`} {
			if a := w.post(target, body); a.StatusCode != 400 || a.body["field"] != "aid" {
				t.Errorf("POST %s %s: %d %s, want 400 for aid", target, body, a.StatusCode, a.raw)
			}
		}
	}
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	for _, c := range []struct {
		action, target string
		body           any
		field          string
	}{
		{wire.ActionProfile, "/profile", wire.Profile{Summary: "a\x00"}, "summary"},
		{wire.ActionP2P, "/agents/" + n.AID() + "/p2p", wire.P2P{Addr: "a\x00"}, "addr"},
		{wire.ActionVisibility, "/agents/" + n.AID() + "/visibility", wire.Visibility{Visibility: "a\x00"}, "visibility"},
	} {
		if a := w.call(n, c.action, c.target, c.body); a.StatusCode != 400 || a.body["field"] != c.field {
			t.Errorf("%s: %d %s, want 400 for %s", c.target, a.StatusCode, a.raw, c.field)
		}
	}
	r := w.signed(n, wire.ActionProfile, "/profile", wire.Profile{})
	r.Header.Set(wire.HeaderAID, "a\x00b")
	if a := w.do(r); a.StatusCode != 401 {
		t.Errorf("a zero byte in a header: %d %s", a.StatusCode, a.raw)
	}
}

// Number 38: caches may ask whether a card or a key set changed.
func TestTaggedDocuments(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	r := n.Register("alice", "x")
	r.A2ACard, r.Card = n.Card(1, testNow, "alice", "text.digest"), n.ADPCard(1, testNow)
	w.mustRegister(n, r)
	for target, contentType := range map[string]string{
		"/agents/" + n.AID() + "/jwks.json":   "application/jwk-set+json",
		"/agents/" + n.AID() + "/card":        "application/json",
		"/a2a/v1/agents/" + n.AID() + "/card": "application/json",
	} {
		a := w.get(target)
		tag := a.Header.Get("ETag")
		if want := fmt.Sprintf(`"%x"`, sha256.Sum256(a.raw)); tag != want || a.Header.Get("Content-Type") != contentType {
			t.Errorf("%s: ETag %s, %s", target, tag, a.Header.Get("Content-Type"))
		}
		for match, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200, "": 200} {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			r.Header.Set("If-None-Match", match)
			b := w.do(r)
			if b.StatusCode != status || status == 304 && (len(b.raw) > 0 || b.Header.Get("ETag") != tag) {
				t.Errorf("%s If-None-Match %s: %d with %d bytes, want %d", target, match, b.StatusCode, len(b.raw), status)
			}
		}
	}
	if a := w.get("/a2a/v1/agents/" + n.AID() + "/card"); !bytes.Equal(a.raw, r.A2ACard) {
		t.Error("the card is not served byte for byte")
	}
}

// Number 46: no request line has to name an AID, and no log line does.
func TestLookupsByBodyEqualTheGets(t *testing.T) {
	w := newTown(t)
	n, gone := w.node("alice"), w.node("bob")
	r := n.Register("alice", "x")
	r.A2ACard, r.EncKeys = n.Card(1, testNow, "alice", "text.digest"), n.Keyset(testNow, false)
	w.mustRegister(n, r)
	for _, c := range []struct{ get, post string }{
		{"/agents/%s/keys", "/agents/keys:lookup"}, {"/agents/%s/kel", "/agents/kel:lookup"},
		{"/a2a/v1/agents/%s/card", "/a2a/v1/agents/card:lookup"},
	} {
		for _, aid := range []string{n.AID(), gone.AID(), w.hub.AID()} {
			a := w.get(fmt.Sprintf(c.get, aid))
			b := w.post(c.post, `{"aid":"`+aid+`"}`)
			mask := regexp.MustCompile(`"request_id":"[^"]*"`)
			if a.StatusCode != b.StatusCode || !bytes.Equal(mask.ReplaceAll(a.raw, nil), mask.ReplaceAll(b.raw, nil)) {
				t.Errorf("%s: GET %d %s, POST %d %s", c.post, a.StatusCode, a.raw, b.StatusCode, b.raw)
			}
		}
		if b := w.post(c.post, `{"aid":"`+strings.Repeat("a", 5000)+`"}`); b.StatusCode != 413 {
			t.Errorf("%s with 5000 bytes: %d", c.post, b.StatusCode)
		}
	}
	for _, aid := range []string{n.AID(), gone.AID()} {
		if strings.Contains(w.log.String(), aid) {
			t.Error("the log names an AID")
		}
	}
}

func TestPagesOverHTTP(t *testing.T) {
	w := newTown(t)
	for i := range 20 {
		n := w.node(fmt.Sprint("n", i))
		w.mustRegister(n, n.Register("n", "x.y"))
	}
	var all []string
	for cursor := ""; ; {
		a := w.get("/agents?cap=x.*&limit=7&cursor=" + url.QueryEscape(cursor))
		if a.StatusCode != 200 || a.body["limit"] != 7.0 {
			t.Fatalf("%d %s", a.StatusCode, a.raw)
		}
		all = append(all, aids(a)...)
		next, more := a.body["next_cursor"].(string)
		if cursor = next; !more {
			break
		}
	}
	slices.Sort(all)
	if len(all) != 20 || len(slices.Compact(all)) != 20 {
		t.Errorf("%d agents on the pages, want 20", len(all))
	}
}
