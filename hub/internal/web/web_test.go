package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

func TestQuote(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"an address", "https://hub.example.org:8443/agents", "https://hub.example.org:8443/agents"},
		{"a question", "https://h/agents?cap=a.*", "'https://h/agents?cap=a.*'"},
		{"a host that ends the quote", "http://x';id;'", `'http://x'\'';id;'\'''`},
		{"a substitution", "$(id)`id`", "'$(id)`id`'"},
	}
	for _, tt := range tests {
		if got := quote(tt.in); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestAgo(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{-time.Hour, "just now"}, {0, "just now"}, {59 * time.Second, "just now"},
		{time.Minute, "1 minute ago"}, {59*time.Minute + 59*time.Second, "59 minutes ago"},
		{time.Hour, "1 hour ago"}, {day - 1, "23 hours ago"}, {day, "1 day ago"}, {29 * day, "29 days ago"},
		{365 * day, "1 year ago"}, {800 * day, "2 years ago"},
	}
	for _, tt := range tests {
		if got := ago(tt.d); got != tt.want {
			t.Errorf("ago(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		14 * 24 * time.Hour: "14 days", 24 * time.Hour: "1 day", 36 * time.Hour: "36 hours", 90 * time.Minute: "90 minutes",
		10 * time.Second: "10 seconds", 1500 * time.Millisecond: "1.5s", 0: "0s",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	l := wire.Limits{
		Mailbox:      wire.MailboxLimits{Envelope: 96 << 20, Messages: 5000, Bytes: 1 << 30, LifetimeMS: 14 * day.Milliseconds()},
		Rates:        []wire.RateLimit{{Policy: "send_rate", Per: "agent", Quota: 200, WindowMS: 10_000}, {Policy: "new_rate", Per: "peer", Quota: 1, WindowMS: 1500}},
		Registration: wire.RegistrationLimits{Caps: 256, Cap: 256},
		Times:        wire.TimeLimits{HiddenMS: 30 * day.Milliseconds()},
	}
	want := []Limit{
		{"One message, sealed", "96 MiB"}, {"Waiting for one agent", "5,000 messages, 1 GiB"}, {"A message waits", "14 days"},
		{"Sending, of one agent", "200 at once, as many again in 10 seconds"}, {"new_rate, of one peer", "1 at once, as many again in 1.5s"},
		{"Capabilities of one agent", "256, each up to 256 bytes"},
		{"An agent leaves the lists", "after 30 days of silence; a sign of life brings it back"},
	}
	if got := limitsOf(l); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestRating(t *testing.T) {
	for r, want := range map[Rating]string{{}: "", {4, 1}: "4.0 of 5 from one review", {4.26, 12}: "4.3 of 5 from 12 reviews"} {
		if got := r.String(); got != want {
			t.Errorf("%+v reads %q, want %q", r, got, want)
		}
	}
}

// Where an agent is at home is its word, or a peer's.
func TestHomes(t *testing.T) {
	tests := []struct{ said, host, url string }{
		{"https://hub.example.org/", "hub.example.org", "https://hub.example.org/"},
		{"http://10.0.0.7:8088/net?x=1#y", "10.0.0.7:8088", "http://10.0.0.7:8088/net"},
		{"javascript:alert(1)", "javascript:alert(1)", ""},
		{"https://you@hub.example.org", "https://you@hub.example.org", ""},
		{"//hub.example.org", "//hub.example.org", ""},
		{"https://exe.\u202etxt", "exe.\uFFFDtxt", "https://exe.%E2%80%AEtxt"},
		{"\x1b[2J", "\uFFFD[2J", ""},
	}
	for _, tt := range tests {
		if got := homeOf(tt.said); got == nil || got.Host != tt.host || got.URL != tt.url {
			t.Errorf("homeOf(%q) = %+v, want %q at %q", tt.said, got, tt.host, tt.url)
		}
		page, err := NewSearch(Site{}, Question{}, []wire.Agent{{AID: "bafy", HomeHub: tt.said}}, "").HTML()
		if err != nil || strings.Contains(string(page), `href="`+tt.url+`"`) != (tt.url != "") {
			t.Errorf("%q on a page: %v, %s", tt.said, err, page)
		}
	}
	if homeOf("") != nil {
		t.Error("an agent of this hub has another home")
	}
}

// Which commands a page offers: what a stranger could call, first what a card
// vouches for, and nothing a shell would take apart.
func TestCalls(t *testing.T) {
	aid := "bafyaid"
	call := func(id string) string {
		return "anet delegate " + aid + " \\\n  --capability " + id + " --args '{}' --wait 30s"
	}
	tests := []struct {
		name       string
		caps, tags []string
		want       []string
	}{
		{"nothing offered", nil, nil, nil},
		{"skills, and a tag nobody can call", []string{"a.b", "c.d", "tag"}, []string{"tag"}, []string{call("a.b"), call("c.d")}},
		{"no card: the registration's word", []string{"a.b"}, []string{"a.b"}, []string{call("a.b")}},
		{"ids of another alphabet", []string{"$(id)", "a b", "x@y/z"}, nil, []string{call("x@y/z")}},
		{"text", []string{"chat"}, nil, []string{`anet delegate ` + aid + ` "…" --wait 5m`}},
		{"many", []string{"a", "b", "c", "d", "e"}, nil, []string{call("a"), call("b"), call("c")}},
	}
	for _, tt := range tests {
		got := calls(wire.Agent{AID: aid, Registered: true, Caps: tt.caps, Tags: tt.tags})
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, got, tt.want)
			continue
		}
		for i, c := range got {
			if c.Run != tt.want[i] {
				t.Errorf("%s: %q, want %q", tt.name, c.Run, tt.want[i])
			}
		}
	}
	if got := calls(wire.Agent{AID: aid, Caps: []string{"a.b"}, HomeHub: "https://hub.example.org"}); len(got) != 1 {
		t.Errorf("an agent of another hub is called by %v", got)
	}
	if got := calls(wire.Agent{AID: aid, Caps: []string{"a.b"}}); got != nil {
		t.Errorf("an agent that left can be called: %v", got)
	}
}

// A page without agents says why, and what to do.
func TestNoAgents(t *testing.T) {
	tests := []struct {
		name, query, next, want string
	}{
		{"an empty hub", "", "", "Nobody has registered here yet."},
		{"an id nobody serves", "cap=a.b", "", "Nobody here serves"},
		{"words nobody uses", "q=a", "", "No agent here mentions"},
		{"a page that ended its search early", "q=a", "CURSOR", "There are more to look through."},
		{"a way on", "q=a&cursor=x", "CURSOR", `<a rel="next" href="/?cursor=CURSOR&amp;q=a">Go on looking</a>`},
		{"a last page with nothing on it", "q=a&cursor=x", "", "Nothing further."},
		{"a way back", "cap=a.*&cursor=x", "", `<a href="/?cap=a.%2A">First page</a>`},
	}
	for _, tt := range tests {
		q, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		page, err := NewSearch(Site{}, QuestionOf(q), nil, tt.next).HTML()
		if err != nil || !strings.Contains(string(page), tt.want) {
			t.Errorf("%s: %v, want %q in %s", tt.name, err, tt.want, page)
		}
	}
}

func TestWider(t *testing.T) {
	tests := []struct{ asked, want string }{
		{"text.digest", "text.*"}, {"ptz.absolute@onvif/1", "ptz.*"}, {"text", ""}, {"text.*", ""}, {"a.b,c.d", ""}, {".a", ""}, {"", ""},
	}
	for _, tt := range tests {
		got := ""
		if l := (Question{ByCap: true, Cap: tt.asked}).Wider(); l != nil {
			got = l.Text
		}
		if got != tt.want {
			t.Errorf("nobody serves %q: it leads to %q, want %q", tt.asked, got, tt.want)
		}
	}
}

func TestHost(t *testing.T) {
	for url, want := range map[string]string{"https://hub.example.org/": "hub.example.org", "http://[::1]:8088": "[::1]:8088", "nonsense": "nonsense"} {
		if got := (Site{url}).Host(); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// An agent of another hub is shown with where it is at home, and as one that can
// be called from here.
func TestAnAgentOfAnotherHub(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	v := wire.Agent{AID: "bafyaid", Name: "far", Caps: []string{"a.b"}, HomeHub: "https://hub.example.org", RegisteredAt: at}
	raw, err := NewAgent(Site{}, v, "told by a peer", nil, at).HTML()
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, want := range []string{
		`<a rel="external nofollow noreferrer" href="https://hub.example.org"><bdi>hub.example.org</bdi></a>`,
		"anet delegate bafyaid", "passes it on to the home hub", "<dt>Known since</dt>", "Registered at another hub",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, wrong := range []string{"not registered here", "Heard of", "First seen"} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page says %q", wrong)
		}
	}
}
