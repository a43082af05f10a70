package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/wire"
)

func (w *town) member(label string, caps ...string) *directorytest.Node {
	w.t.Helper()
	n := w.node(label)
	w.mustRegister(n, n.Register(label, caps...))
	return n
}

func (w *town) review(provider, requester *directorytest.Node, rating int) answer {
	w.t.Helper()
	return w.submit(reviewtest.Done(provider.Key, requester.Key, rating, w.clock()))
}

func (w *town) submit(work *reviewtest.Work) answer {
	w.t.Helper()
	receipt, review := work.Sign(w.t)
	body, _ := json.Marshal(wire.SubmitReview{Receipt: receipt, Review: review})
	return w.post("/reviews", string(body))
}

func (w *town) mustReview(provider, requester *directorytest.Node, rating int) {
	w.t.Helper()
	if a := w.review(provider, requester, rating); a.StatusCode != http.StatusOK {
		w.t.Fatalf("review: %d %s", a.StatusCode, a.raw)
	}
}

// Number 43: what the body is held to before anything in it is read. The hub
// takes no content, in whatever form it comes.
func TestReviewBodies(t *testing.T) {
	w := newTown(t)
	provider, requester := w.member("bob", "x"), w.member("alice")
	receipt, review := reviewtest.Done(provider.Key, requester.Key, 4, w.clock()).Sign(t)
	with := func(more string) string {
		body, _ := json.Marshal(wire.SubmitReview{Receipt: receipt, Review: review})
		return strings.TrimSuffix(string(body), "}") + more + "}"
	}
	for _, c := range []struct {
		why, body, code, field string
		status                 int
	}{
		{"no JSON", "x", "malformed_json", "body", 400},
		{"no base64", `{"receipt":"*","review":"AA=="}`, "malformed_json", "body", 400},
		{"a member twice", with(`,"review":"AA=="`), "malformed_json", "body", 400},
		{"no receipt", `{"review":"AA=="}`, "receipt_missing", "receipt", 400},
		{"an empty review", `{"receipt":"AA==","review":""}`, "review_missing", "review", 400},
		{"the request", with(`,"request_doc":"AA=="`), "review_content", "request_doc", 400},
		{"the result", with(`,"deliverable":"AA=="`), "review_content", "deliverable", 400},
		{"an empty result", with(`,"deliverable":""`), "review_content", "deliverable", 400},
		{"a result that is null", with(`,"deliverable":null`), "review_content", "deliverable", 400},
		{"more than 64 KiB", with(`,"x":"` + strings.Repeat("x", 64<<10) + `"`), "body_too_large", "body", 413},
		{"all there is to it", with(`,"another":1`), "", "", 200},
	} {
		a := w.post("/reviews", c.body)
		if field, _ := a.body["field"].(string); a.StatusCode != c.status || a.code() != c.code || field != c.field {
			t.Errorf("%s: %d %s, want %d %s in %s", c.why, a.StatusCode, a.raw, c.status, c.code, c.field)
		}
	}
	if a := w.get("/stats"); a.body["reviews"] != 1.0 {
		t.Errorf("%s, want the one that held", a.raw)
	}
}

// Nobody signs the request, so the address it comes from pays for it, whatever
// is in it.
func TestReviewsAreLimitedByAddress(t *testing.T) {
	w := newTown(t)
	for range 60 {
		w.post("/reviews", "x")
	}
	a := w.post("/reviews", "x")
	if a.StatusCode != http.StatusTooManyRequests || a.code() != "review_rate" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s, want 429 review_rate", a.StatusCode, a.raw)
	}
}

// The story of one agent's reviews, as others see it.
func TestReviewsAreShown(t *testing.T) {
	w := newTown(t)
	bob, alice, carol := w.member("bob", "x"), w.member("alice"), w.member("carol", "x")
	work := reviewtest.Done(bob.Key, alice.Key, 4, w.clock())
	work.Word.Comment = "5 < 6 & 7"
	if a := w.submit(work); a.StatusCode != 200 || a.body["interaction_id"] != work.Interaction ||
		a.body["status"] != "accepted" || a.body["content_binding"] != "UNVERIFIED" {
		t.Fatalf("%d %s", a.StatusCode, a.raw)
	}
	w.mustReview(bob, carol, 5)
	w.mustReview(carol, alice, 4)
	page := w.get("/agents/" + bob.AID())
	said := page.body["reviews"].([]any)
	if len(said) != 2 || page.body["agent"].(map[string]any)["avg_rating"] != 4.5 {
		t.Fatalf("%s", page.raw)
	}
	first := said[1].(map[string]any)
	if first["comment"] != "5 < 6 & 7" || first["rating"] != 4.0 || first["reviewer_aid"] != alice.AID() ||
		first["request_cid"] != work.RequestCID || first["created_at"] != float64(work.Word.CreatedAt) {
		t.Errorf("%v", first)
	}
	if got := aids(w.get("/agents?cap=x")); !slices.Equal(got, []string{bob.AID(), carol.AID()}) {
		t.Errorf("?cap=x finds %v, want the better rated first", got)
	}
	cards := w.get("/agents/" + bob.AID() + "?limit=1")
	next, _ := cards.body["next_cursor"].(string)
	if len(cards.body["reviews"].([]any)) != 1 || next == "" {
		t.Fatalf("%s, want one and a cursor", cards.raw)
	}
	if rest := w.get("/agents/" + bob.AID() + "?limit=1&cursor=" + next); len(rest.body["reviews"].([]any)) != 1 || rest.body["next_cursor"] != nil {
		t.Errorf("%s, want the other one and no cursor", rest.raw)
	}
	if a := w.get("/agents/" + carol.AID() + "?cursor=" + next); a.code() != "cursor_invalid" {
		t.Errorf("the cursor at another agent: %s", a.raw)
	}
	if a := w.get("/stats"); a.body["reviews"] != 3.0 || a.body["tasks_completed"] != 3.0 || a.body["avg_rating"] != 13.0/3 {
		t.Errorf("%s", a.raw)
	}
}

func TestReputationOfAnybody(t *testing.T) {
	w := newTown(t)
	bob, alice := w.member("bob", "x"), w.member("alice")
	w.mustReview(bob, alice, 4)
	w.mustReview(bob, alice, 5)
	for _, c := range []struct {
		aid  string
		want wire.ReviewSource
		part float64
	}{
		{bob.AID(), wire.ReviewSource{Reviews: 2, AvgRating: 4.5}, 1},
		{alice.AID(), wire.ReviewSource{}, 0},
		{"nobody", wire.ReviewSource{}, 0},
	} {
		byPath := w.get("/agents/" + c.aid + "/reputation")
		byBody := w.post("/agents/reputation:lookup", fmt.Sprintf(`{"aid":%q}`, c.aid))
		if string(byPath.raw) != string(byBody.raw) {
			t.Errorf("%s by path, %s by body", byPath.raw, byBody.raw)
		}
		var got wire.ReputationPage
		if err := json.Unmarshal(byPath.raw, &got); err != nil {
			t.Fatal(err)
		}
		r := got.Reputation
		if r.Local != c.want || r.Combined != c.want || r.Concentration != c.part || r.Peers == nil || got.Note == "" {
			t.Errorf("%s", byPath.raw)
		}
	}
}

// Every agent of an edge is a node of its page, and the pages together hold each
// edge once and everybody listed.
func TestGraphPages(t *testing.T) {
	w := newTown(t)
	var all []*directorytest.Node
	for i := range 5 {
		all = append(all, w.member(fmt.Sprint("n", i), "x"))
	}
	plain, gone := w.member("plain"), w.member("gone", "x")
	for i, n := range all {
		w.mustReview(n, plain, 1+i)
		w.mustReview(gone, n, 3)
	}
	w.mustReview(all[0], gone, 2)
	w.call(gone, wire.ActionDeregister, "/agents/"+gone.AID()+"/deregister", struct{}{})
	for _, limit := range []int{1, 2, 4, 1000} {
		nodes, edges := w.walkGraph(limit)
		if len(nodes) != 7 || len(edges) != 11 {
			t.Errorf("by %d: %d nodes and %d edges, want 7 and 11", limit, len(nodes), len(edges))
		}
		if !slices.Equal(edges, slices.Compact(slices.Clone(edges))) || edges[10] != (wire.Edge{Source: gone.AID(), Target: all[0].AID(), Rating: 2}) {
			t.Errorf("by %d: edges %v", limit, edges)
		}
		if nodes[gone.AID()].Registered || !nodes[gone.AID()].Departed || !nodes[plain.AID()].Registered || nodes[plain.AID()].Listed {
			t.Errorf("by %d: who left is shown as %+v, who offers nothing as %+v", limit, nodes[gone.AID()], nodes[plain.AID()])
		}
	}
	for _, cursor := range []string{".", "x", "x.", ".x", "x.x", strings.Repeat("A", 400) + "."} {
		if a := w.get("/graph?cursor=" + cursor); a.StatusCode != 400 || a.code() != "cursor_invalid" {
			t.Errorf("cursor %q: %d %s", cursor, a.StatusCode, a.raw)
		}
	}
}

func (w *town) walkGraph(limit int) (map[string]wire.Agent, []wire.Edge) {
	w.t.Helper()
	nodes, edges := map[string]wire.Agent{}, []wire.Edge(nil)
	for target := fmt.Sprint("/graph?limit=", limit); ; {
		var page struct {
			Nodes []wire.Agent `json:"nodes"`
			Edges []wire.Edge  `json:"edges"`
			Next  string       `json:"next_cursor"`
		}
		if err := json.Unmarshal(w.get(target).raw, &page); err != nil {
			w.t.Fatal(err)
		}
		here := map[string]bool{}
		for _, n := range page.Nodes {
			if here[n.AID] {
				w.t.Errorf("%s is a node of one page twice", n.AID)
			}
			here[n.AID], nodes[n.AID] = true, n
		}
		for _, e := range page.Edges {
			if !here[e.Source] || !here[e.Target] {
				w.t.Errorf("an edge %v without its nodes", e)
			}
		}
		if edges = append(edges, page.Edges...); page.Next == "" {
			return nodes, edges
		}
		target = fmt.Sprint("/graph?limit=", limit, "&cursor=", page.Next)
	}
}
