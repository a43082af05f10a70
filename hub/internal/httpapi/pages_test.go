package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/hub/internal/web"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit/golden"
	"github.com/anet-hub/anet/shared/wire"
)

// browse asks as a browser does.
func (w *town) browse(target string) answer {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	return w.do(r)
}

// carded registers an agent with a card that describes its skills.
func (w *town) carded(n *directorytest.Node, r wire.Register, skills ...card.Skill) {
	w.t.Helper()
	p := card.Profile{AID: n.AID(), HubURL: "https://hub.example.org", Name: r.Name, Skills: skills}
	raw, err := card.Publish(n.Key, p, nil, testNow)
	if err != nil {
		w.t.Fatal(err)
	}
	r.A2ACard = raw
	if a := w.register(n, r); a.StatusCode != 200 || a.body["card_status"] != "ok" {
		w.t.Fatalf("register: %d %s", a.StatusCode, a.raw)
	}
}

// village has an agent with a card, one without, and one that left.
func village(t *testing.T) (w *town, alice, bob, carol *directorytest.Node) {
	w = newTown(t)
	alice, bob, carol = w.node("alice"), w.node("bob"), w.node("carol")
	r := alice.Register("text tools", "text", "free")
	r.Summary, r.Readme, r.Pricing = "digests & more", "# How\n\nSee https://example.org", "nothing at all"
	w.carded(alice, r,
		card.Skill{ID: "text.digest", Name: "Digest", Description: "The SHA-256 of args.text.", Tags: []string{"hash"}, Examples: []string{`{"text":"hello"}`}},
		card.Skill{ID: "chat", Name: "Chat", Description: "Text.", Tags: []string{"chat"}})
	w.mustRegister(bob, bob.Register("", "text.digest", "ptz.absolute@onvif/camera-006"))
	w.mustRegister(carol, carol.Register("carol", "text.digest"))
	w.call(carol, wire.ActionDeregister, "/agents/"+carol.AID()+"/deregister", struct{}{})
	return w, alice, bob, carol
}

// The pages as people get them, written down.
func TestPages(t *testing.T) {
	w, alice, bob, carol := village(t)
	work := reviewtest.Done(alice.Key, bob.Key, 4, testNow)
	work.Word.Comment = "5 < 6 & <b>fast</b>"
	w.submit(work)
	w.advance(90 * time.Minute)
	w.peers = []peers.Face{
		{Name: "labs", AID: carol.AID(), Endpoint: "https://hub.labs.example:8443/net", Delivery: true, Discovery: true, Since: testNow, Agents: 1204},
		{Name: "quiet-one", AID: bob.AID(), Endpoint: "http://10.0.0.7:8088", Since: testNow.Add(-time.Hour)},
	}
	for file, target := range map[string]string{
		"front.html": "/", "exact.html": "/?cap=text.digest", "words.html": "/?q=MORE", "nobody.html": "/?cap=light.onoff",
		"bad.html": "/?cap=a*b", "agent.html": "/a/" + alice.AID(), "no_card.html": "/a/" + bob.AID(),
		"departed.html": "/a/" + carol.AID(), "unknown.html": "/a/" + w.hub.AID(), "hub.html": "/hub", "peers.html": "/peers", "llms.txt": "/llms.txt",
	} {
		golden.Equal(t, "testdata/pages/"+file, masked(w.browse(target).raw))
	}
}

var changing = regexp.MustCompile(`\?v=[0-9a-f]+|Request [0-9a-f]+`)

// masked leaves out what differs from one run or release to the next.
func masked(page []byte) []byte {
	return changing.ReplaceAllFunc(page, func(b []byte) []byte { return append(b[:strings.IndexAny(string(b), "= ")+1:len(b)], "…"...) })
}

func TestPageStatuses(t *testing.T) {
	w, alice, _, carol := village(t)
	tests := []struct {
		name, target string
		status       int
		says         string
	}{
		{"everybody", "/", 200, "text tools"},
		{"a family", "/?cap=text.*", 200, "text tools"},
		{"no question", "/?cap=", 400, "cap names no capability."},
		{"a star inside", "/?cap=a*b", 400, "cap term &#34;a*b&#34; has a &#39;*&#39; elsewhere than at its end."},
		{"a question too long", "/?q=" + strings.Repeat("x", 257), 400, "q has 257 bytes"},
		{"a query that is none", "/?cap=%zz", 400, "The query string is malformed."},
		{"a page of another question", "/?cap=text.*&cursor=AAAA", 400, "This cursor belongs to no page"},
		{"an agent", "/a/" + alice.AID(), 200, "card verified"},
		{"an agent that left", "/a/" + carol.AID(), 200, "this agent has left the hub"},
		{"an agent nobody knows", "/a/" + w.hub.AID(), 404, "No agent"},
		{"no AID", "/a/alice", 404, "No agent"},
		{"the hub", "/hub", 200, w.hub.AID()},
		{"its peers", "/peers", 200, "federates with no other"},
		{"no page", "/nowhere", 404, "There is no such route."},
	}
	for _, tt := range tests {
		a := w.browse(tt.target)
		if a.StatusCode != tt.status || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(a.raw), tt.says) {
			t.Errorf("%s: %d %s, want %d and %q: %s", tt.name, a.StatusCode, a.Header.Get("Content-Type"), tt.status, tt.says, a.raw)
		}
		if tt.status != 200 && a.StatusCode == tt.status {
			if api := w.get(strings.NewReplacer("/a/", "/agents/", "/?", "/agents?").Replace(tt.target)); api.StatusCode != tt.status {
				t.Errorf("%s: the API answers %d, the page %d", tt.name, api.StatusCode, tt.status)
			}
		}
	}
}

// A page finds what the API finds, over all its pages.
func TestPagesAnswerAsTheAPI(t *testing.T) {
	w := newTown(t)
	for i := range 40 {
		w.advance(time.Minute)
		n := w.node(fmt.Sprint("n", i))
		w.mustRegister(n, n.Register("n", "x.y", fmt.Sprintf("x.%02d", i), "Caps"))
	}
	entry := regexp.MustCompile(`href="/a/([a-z0-9]+)"`)
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	for _, q := range []string{"", "cap=x.y", "cap=x.*", "cap=x.01,x.02", "cap=X.Y", "cap=caps", "cap=x", "q=caps", "q=nothing", "cap=nobody&q=caps"} {
		var seen []string
		for target := "/?" + q; target != ""; {
			a := w.browse(target)
			for _, m := range entry.FindAllSubmatch(a.raw, -1) {
				seen = append(seen, string(m[1]))
			}
			target = ""
			if m := next.FindSubmatch(a.raw); m != nil {
				target = strings.ReplaceAll(string(m[1]), "&amp;", "&")
			}
		}
		want := aids(w.get("/agents?" + q))
		slices.Sort(seen) // a prefix over several pages is not in the order of ranks
		slices.Sort(want)
		if !slices.Equal(seen, want) {
			t.Errorf("?%s: the pages show %d agents, the API %d", q, len(seen), len(want))
		}
	}
}

// What programs get at the address people visit.
func TestFrontForPrograms(t *testing.T) {
	w, alice, _, _ := village(t)
	index := w.get("/")
	if got := read[wire.Index](t, string(index.raw)); index.StatusCode != 200 || got.AID != w.hub.AID() || got.Agents != "/agents" || got.Guide != "/llms.txt" {
		t.Errorf("without a question: %d %s", index.StatusCode, index.raw)
	}
	if got := aids(w.get("/?q=text+tools")); !slices.Equal(got, []string{alice.AID()}) {
		t.Errorf("a question in words finds %q", got)
	}
	for _, q := range []string{"cap=text.*", "cap=nobody", "cap=", "limit=1", "limit=0"} {
		front, agents := w.get("/?"+q), w.get("/agents?"+q)
		delete(front.body, "request_id")
		delete(agents.body, "request_id")
		if front.StatusCode != agents.StatusCode || fmt.Sprint(front.body) != fmt.Sprint(agents.body) {
			t.Errorf("/?%s: %d %s\n/agents?%s: %d %s", q, front.StatusCode, front.raw, q, agents.StatusCode, agents.raw)
		}
	}
	if a := w.get("/nowhere"); a.StatusCode != 404 || a.code() != "no_such_route" {
		t.Errorf("no route: %d %s", a.StatusCode, a.raw)
	}
	if vary := index.Header.Get("Vary"); vary != "Accept" {
		t.Errorf("Vary: %q", vary)
	}
}

func TestWantsPage(t *testing.T) {
	tests := []struct {
		who, accept string
		want        bool
	}{
		{"a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"a screen reader's browser", "text/html, */*;q=0.1", true},
		{"curl", "*/*", false},
		{"somebody silent", "", false},
		{"a JSON client", "application/json", false},
		{"one that takes a page at need", "application/json, text/html;q=0.5", false},
		{"one that takes JSON at need", "application/json;q=0.5, text/html", true},
		{"one that wants no page", "text/html;q=0, */*", false},
		{"nonsense", ";;;,text/html;q=x", true},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", tt.accept)
		if got := wantsPage(r); got != tt.want {
			t.Errorf("%s (%q): %v, want %v", tt.who, tt.accept, got, tt.want)
		}
	}
}

// Nothing on a page acts but what this hub serves beside it.
func TestPagesAreHardened(t *testing.T) {
	w, alice, _, _ := village(t)
	for _, target := range []string{"/", "/?cap=text.*", "/?cap=a*b", "/a/" + alice.AID(), "/a/x", "/hub", "/nowhere", "/llms.txt", "/assets/style.css"} {
		a := w.browse(target)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", target, name, got, want)
			}
		}
		if a.Header.Get("Content-Type") == "text/html; charset=utf-8" {
			checkInert(t, target, a.raw)
		}
	}
}

var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	tags    = regexp.MustCompile(`<[a-z][^>]*>`)
	inline  = regexp.MustCompile(`\s(on[a-z]+|style|srcdoc)\s*=`)
	address = regexp.MustCompile(`\s(?:href|src|action)="([^"]*)"`)
)

// checkInert wants no script and no style inside of a page, and no address that
// leads out of the hub, but for those that say so.
func checkInert(t *testing.T, target string, page []byte) {
	t.Helper()
	for _, tag := range tags.FindAllString(string(page), -1) {
		if inline.MatchString(quoted.ReplaceAllString(tag, `""`)) || strings.HasPrefix(tag, "<style") || strings.HasPrefix(tag, "<script") && !strings.HasPrefix(tag, `<script src="/assets/`) {
			t.Errorf("%s: %s", target, tag)
		}
		for _, m := range address.FindAllStringSubmatch(tag, -1) {
			if strings.HasPrefix(tag, `<a rel="external nofollow noreferrer" href="http`) {
				continue // to where an agent is at home
			}
			if !strings.HasPrefix(m[1], "/") && m[1] != "#main" || strings.HasPrefix(m[1], "//") {
				t.Errorf("%s: %s leads elsewhere", target, tag)
			}
		}
	}
}

// An agent may write what it likes; on a page it is text.
func TestHostileAgents(t *testing.T) {
	evil := "</bdi></p><script>alert(1)</script><img src=x onerror=alert(1)>\"'><a href=javascript:alert(1)>&lt;{{.}}\u202egpj\u2066\x1b[2J\u200b\u0085"
	w := newTown(t)
	n := w.node("eve")
	r := n.Register("</title><script>alert(1)</script>\"' onload=x \u202egpj.exe", `a"onmouseover="x`, "<b>", "'; rm -rf ~ #", "\u202ecap", "javascript:x", "a b&cursor=x")
	r.Summary, r.Pricing = evil+strings.Repeat("x", 512-len(evil)), evil
	r.Readme = evil + strings.Repeat("\u0301W", 5000)
	r.Readme += strings.Repeat("n", 16<<10-len(r.Readme))
	w.carded(n, r, card.Skill{ID: `"><script>x`, Name: evil, Description: evil, Tags: []string{evil}, Examples: []string{evil}},
		card.Skill{ID: "text.digest", Name: "x", Description: "x", Tags: []string{"x"}})
	for _, target := range []string{"/", "/?cap=" + url.QueryEscape(`a"onmouseover="x`), "/?q=" + url.QueryEscape("<script>"), "/a/" + n.AID(), "/?cap=" + url.QueryEscape(evil), "/?q=" + url.QueryEscape("\u202e<b>")} {
		a := w.browse(target)
		checkInert(t, target, a.raw)
		if i := strings.IndexAny(string(a.raw), "\u202e\u2066\x1b\u200b\u0085"); i >= 0 && !strings.Contains(target, "%E2%80%AE") {
			t.Errorf("%s: a character that acts is left: %q", target, a.raw[max(0, i-40):i+10])
		}
		if scripts := strings.Count(string(a.raw), "<script"); scripts != 1 {
			t.Errorf("%s: %d scripts", target, scripts)
		}
	}
	page := string(w.browse("/a/" + n.AID()).raw)
	if strings.Contains(page, "--capability &#39;") || strings.Contains(page, "rm -rf ~ # --args") || strings.Count(page, "anet delegate") != 1 {
		t.Error("an id that no shell should see stands in a command")
	}
}

// Bytes in flight are bounded for pages as for everything.
func TestPagesTakeFromTheBudget(t *testing.T) {
	w, alice, _, _ := village(t)
	memory := budget.New(8 << 20)
	w.api.Budget = memory
	release, err := memory.Take(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/", "/a/" + alice.AID()} {
		a := w.browse(target)
		if a.StatusCode != 503 || a.Header.Get("Retry-After") != "1" || !strings.Contains(string(a.raw), "Not now") {
			t.Errorf("%s: %d %s", target, a.StatusCode, a.raw)
		}
	}
	release()
	for _, target := range []string{"/", "/a/" + alice.AID(), "/hub", "/a/x"} {
		if w.browse(target); memory.Used() != 0 {
			t.Errorf("%s keeps %d bytes", target, memory.Used())
		}
	}
}

// A database that is away makes a page of 503, and a cause that stays here.
func TestPagesWithoutADatabase(t *testing.T) {
	w := newTown(t)
	w.api.Down = func(error) bool { return true }
	w.pool.Close()
	for _, target := range []string{"/", "/hub", "/a/" + w.hub.AID()} {
		a := w.browse(target)
		if a.StatusCode != 503 || !strings.Contains(string(a.raw), "The hub’s database does not answer") && !strings.Contains(string(a.raw), "The hub&#39;s database does not answer") {
			t.Errorf("%s: %d %s", target, a.StatusCode, a.raw)
		}
	}
}

// A hub that has no identity yet says so.
func TestHubPageWithoutAnIdentity(t *testing.T) {
	w := newTown(t)
	w.api.Key = faceless{}
	if a := w.browse("/hub"); a.StatusCode != 503 || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.StatusCode, a.raw)
	}
	if a := w.get("/"); a.StatusCode != 503 || a.code() != "hub_identity_missing" {
		t.Errorf("%d %s", a.StatusCode, a.raw)
	}
}

type faceless struct{}

func (faceless) Current() *identity.Controller { return nil }

// Browsers keep what cannot change, and nothing of another release.
func TestAssets(t *testing.T) {
	w := newTown(t)
	tests := []struct {
		target string
		status int
		cache  string
	}{
		{web.AssetPath("style.css"), 200, "public, max-age=31536000, immutable"},
		{web.AssetPath("copy.js"), 200, "public, max-age=31536000, immutable"},
		{web.AssetPath("favicon.svg"), 200, "public, max-age=31536000, immutable"},
		{"/assets/style.css?v=another", 200, "no-store"},
		{"/assets/style.css", 200, "no-store"},
		{"/assets/secret", 404, ""},
		{"/assets/..%2ftemplates%2flayout.html", 404, ""},
	}
	for _, tt := range tests {
		if a := w.get(tt.target); a.StatusCode != tt.status || a.Header.Get("Cache-Control") != tt.cache {
			t.Errorf("%s: %d, Cache-Control %q, want %d, %q", tt.target, a.StatusCode, a.Header.Get("Cache-Control"), tt.status, tt.cache)
		}
	}
}

// The kinds a page may have to tell of have words of their own.
func TestProblemTitles(t *testing.T) {
	for kind, want := range map[errs.Kind]string{errs.Invalid: "be answered", errs.NotFound: "Not found", errs.Unavailable: "Not now", errs.Internal: "went wrong"} {
		page, err := web.NewProblem(web.Site{}, web.Question{}, errs.New(kind, "x", "x"), "1").HTML()
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%v: %v, want %q in it", kind, err, want)
		}
	}
}
