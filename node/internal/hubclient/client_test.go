package hubclient

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

func TestParseURL(t *testing.T) {
	tests := []struct {
		url       string
		allowHTTP bool
		want      string
		reason    string
	}{
		{"https://hub.example.org", false, "https://hub.example.org", ""},
		{" https://hub.example.org:8443/net// ", false, "https://hub.example.org:8443/net", ""},
		{"http://127.0.0.1:8088", false, "http://127.0.0.1:8088", ""},
		{"http://[::1]:8088/", false, "http://[::1]:8088", ""},
		{"http://localhost", false, "http://localhost", ""},
		{"http://hub.example.org", false, "", "hub_plain_http"},
		{"http://localhost.example.org", false, "", "hub_plain_http"},
		{"http://10.0.0.5", false, "", "hub_plain_http"},
		{"http://10.0.0.5", true, "http://10.0.0.5", ""},
		{"hub.example.org", false, "", "hub_url_invalid"},
		{"ftp://hub.example.org", true, "", "hub_url_invalid"},
		{"https://u:p@hub.example.org", false, "", "hub_url_invalid"},
		{"https://hub.example.org/?x=1", false, "", "hub_url_invalid"},
		{"https://hub.example.org/?", false, "", "hub_url_invalid"},
		{"https:///x", false, "", "hub_url_invalid"},
		{"", false, "", "hub_url_invalid"},
	}
	for _, tt := range tests {
		u, err := ParseURL(tt.url, tt.allowHTTP)
		if tt.reason != "" {
			if !errs.Is(err, tt.reason) {
				t.Errorf("ParseURL(%q) = %v, %v, want %s", tt.url, u, err, tt.reason)
			}
		} else if err != nil || u.String() != tt.want {
			t.Errorf("ParseURL(%q) = %v, %v, want %s", tt.url, u, err, tt.want)
		}
	}
}

func TestEveryCallIsSignedForItsRoute(t *testing.T) {
	node := controller(t)
	own := "/agents/" + node.AID()
	wait := int64(0)
	tests := []struct {
		name, target, action, body, answer string
		call                               func(*Client) error
	}{
		{"send", "/relay/send", "send", `{"to_aid":"b","envelope":"AQI="}`, `{"id":7,"status":"queued"}`,
			func(c *Client) error { _, err := c.Send(t.Context(), "b", []byte{1, 2}); return err }},
		{"poll", "/relay/poll", "poll", `{"limit":100,"after_id":7,"wait_ms":0}`, `{"messages":[{"id":8,"envelope":"AQI="}]}`,
			func(c *Client) error {
				got, err := c.Poll(t.Context(), wire.Poll{Limit: 100, AfterID: 7, WaitMS: &wait})
				if err == nil && (len(got.Messages) != 1 || got.WaitMS != nil) {
					t.Errorf("poll = %+v", got)
				}
				return err
			}},
		{"ack", "/relay/ack", "ack", `{"ids":[8,9]}`, `{"acked":1}`,
			func(c *Client) error { return c.Ack(t.Context(), []int64{8, 9}) }},
		{"profile", "/profile", "profile", `{"summary":"s","readme":"","pricing":""}`, `{"aid":"b","status":"profile_updated"}`,
			func(c *Client) error { return c.SetProfile(t.Context(), wire.Profile{Summary: "s"}) }},
		{"visibility", own + "/visibility", "visibility", `{"visibility":"public"}`, `{}`,
			func(c *Client) error { return c.SetVisibility(t.Context(), "public") }},
		{"leave", own + "/deregister", "deregister", `{}`, `{"status":"deregistered","undelivered":3}`,
			func(c *Client) error {
				got, err := c.Deregister(t.Context())
				if err == nil && got.Undelivered != 3 {
					t.Errorf("deregister = %+v", got)
				}
				return err
			}},
		{"keys", own + "/keys", "keys", `{"keyset":"AQI="}`, `{"keys_status":"ok"}`,
			func(c *Client) error { _, err := c.PublishKeys(t.Context(), []byte{1, 2}); return err }},
		{"why", own + "/why?cap=a.b%40c", "why", "", `{"aid":"b","listed":false,"gate":"visible","gates":[]}`,
			func(c *Client) error {
				got, err := c.Why(t.Context(), "a.b@c")
				if err == nil && got.Gate != "visible" {
					t.Errorf("why = %+v", got)
				}
				return err
			}},
		{"register", "/register", "register", "", `{"aid":"b","status":"registered","keys_status":"absent","card_status":"absent"}`,
			func(c *Client) error {
				_, err := c.Register(t.Context(), wire.Register{AID: "b", Name: "n"})
				return err
			}},
	}
	for _, tt := range tests {
		hub := newHub(t, says(200, tt.answer))
		if err := tt.call(joined(t, hub, node)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := hub.last(t)
		method := http.MethodPost
		if tt.action == wire.ActionWhy {
			method = http.MethodGet
		}
		if got.method != method || got.target != tt.target || (tt.body != "" && got.body != tt.body) {
			t.Errorf("%s: the hub saw %s %s %s", tt.name, got.method, got.target, got.body)
		}
		err := got.claim.Verify(node.KEL(), identity.Replay, tt.action, hub.key.AID(), got.method, got.target, []byte(got.body))
		if err != nil {
			t.Errorf("%s: the hub would refuse the signature: %v", tt.name, err)
		}
		if got.header.Get(wire.HeaderVersion) != "2" {
			t.Errorf("%s: wire header %q", tt.name, got.header.Get(wire.HeaderVersion))
		}
	}
}

func TestAClientWithoutAnIdentitySignsNothing(t *testing.T) {
	c, err := New(Options{Hub: Pin{URL: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ack(t.Context(), nil); !errs.Is(err, "not_joined") {
		t.Errorf("Ack = %v, want not_joined", err)
	}
}

func TestEqualRequestsOfOneInstantAreDifferent(t *testing.T) {
	hub := newHub(t, says(200, `{"messages":[]}`))
	c := joined(t, hub, controller(t))
	now := time.Now()
	c.now = func() time.Time { return now }
	for range 3 {
		if _, err := c.Poll(t.Context(), wire.Poll{}); err != nil {
			t.Fatal(err)
		}
	}
	times := map[uint64]bool{}
	for _, r := range hub.requests {
		times[r.claim.TS] = true
	}
	if len(times) != 3 {
		t.Errorf("three polls within a millisecond carry the times %v", times)
	}
	if hub.conns != 1 {
		t.Errorf("three calls opened %d connections", hub.conns)
	}
}

func TestStampsFollowAClockSetBack(t *testing.T) {
	var s stamps
	late, early := time.UnixMilli(10_000_000), time.UnixMilli(1_000_000)
	got := []uint64{s.next(late), s.next(late), s.next(early), s.next(early)}
	want := []uint64{10_000_000, 10_000_001, 1_000_000, 1_000_001}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("stamps %v, want %v", got, want)
		}
	}
}

// A failure is logged and shown: a hub that repeats the invite doesn't put it there.
func TestAnInviteIsNotRepeated(t *testing.T) {
	const invite = "anetinv_mfrggzdfmztwq2lknnwg23tpobyxe43u"
	for name, answer := range map[string]http.HandlerFunc{
		"in the sentence": says(403, `{"error":"no invite `+invite+`"}`),
		"in the code":     says(403, `{"error":"no","code":"`+invite+`","field":"`+invite+`"}`),
		"in the hint":     says(403, `{"error":"no","hint":"`+invite+`"}`),
		"in a redirect":   says(307, ``, "Location", "https://evil.example/"+invite),
	} {
		_, err := joined(t, newHub(t, answer), controller(t)).Register(t.Context(), wire.Register{Invite: invite})
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, *errs.As(err)), invite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name      string
		answer    http.HandlerFunc
		kind      errs.Kind
		reason    string
		says      string
		retry     time.Duration
		temporary bool
	}{
		{"our hub", says(409, `{"error":"card sequence 3 is not newer","code":"card_sequence_stale","field":"a2a_card"}`), errs.Conflict, "card_sequence_stale", "the hub answered 409: card sequence 3", 0, false},
		{"a foreign hub", says(404, `{"error":"no such agent"}`), errs.NotFound, "hub_not_found", "no such agent", 0, false},
		{"a proxy", says(502, `<html>`), errs.BadGateway, "hub_bad_gateway", "Bad Gateway", 0, true},
		{"a proxy that lost its hub", says(404, `<html>`), errs.BadGateway, "hub_bad_gateway", "Not Found", 0, true},
		{"a proxy that was spoken to in the wrong way", says(400, ``), errs.BadGateway, "hub_bad_gateway", "Bad Request", 0, true},
		{"a proxy on a slow line", says(408, `{"error":"slow"}`), errs.BadGateway, "hub_bad_gateway", "slow", 0, true},
		{"limited", says(429, `{"error":"slow down"}`, "Retry-After", "7"), errs.TooMany, "hub_too_many", "slow down", 7 * time.Second, true},
		{"limited for no time", says(429, `{}`, "Retry-After", "0"), errs.TooMany, "hub_too_many", "", time.Second, true},
		{"limited for ever", says(503, `{}`, "Retry-After", "999999"), errs.Unavailable, "hub_unavailable", "", 24 * time.Hour, true},
		{"full", says(507, `{"error":"mailbox full"}`), errs.Full, "hub_full", "", 0, true},
		{"too large", says(413, `{}`), errs.TooLarge, "hub_too_large", "", 0, false},
		{"newer wire", says(426, `{"error":"x","required_wire":3}`), errs.UpgradeRequired, WireTooNew, "requires wire 3 and this program speaks 2; update anet", 0, false},
		{"a refusal with a hint", says(403, `{"error":"used up","hint":"ask for another","code":"invite_used_up"}`), errs.Forbidden, "invite_used_up", "used up; ask for another", 0, false},
		{"a long story", says(400, `{"error":"`+strings.Repeat("東", 150)+`"}`), errs.Invalid, "hub_invalid", "400: " + strings.Repeat("東", 133), 0, false},
		{"a terminal's tricks", says(400, `{"error":"a\u001b[2J\nb\u009b"}`), errs.Invalid, "hub_invalid", "a [2J b", 0, false},
		{"redirect", says(307, ``, "Location", "https://evil.example/"), errs.BadGateway, "hub_redirects", "evil.example", 0, true},
		{"no JSON", says(200, `OK`), errs.BadGateway, "hub_answer_invalid", "", 0, true},
		{"duplicate members", says(200, `{"id":1,"id":2}`), errs.BadGateway, "hub_answer_invalid", "", 0, true},
		{"wrong kind", says(200, `{"id":"seven"}`), errs.BadGateway, "hub_answer_invalid", "", 0, true},
		{"a proxy's 426", says(426, `<html>`), errs.BadGateway, "hub_bad_gateway", "", 0, true},
		{"huge", func(w http.ResponseWriter, r *http.Request) {
			for range maxAnswer/1024 + 1 {
				io.WriteString(w, strings.Repeat(" ", 1024))
			}
		}, errs.BadGateway, "hub_answer_too_large", "", 0, true},
		{"breaks off", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, errs.Unavailable, ConnectionLost, "", 0, true},
		{"breaks off inside", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "{")
		}, errs.Unavailable, ConnectionLost, "", 0, true},
	}
	for _, tt := range tests {
		_, err := joined(t, newHub(t, tt.answer), controller(t)).Send(t.Context(), "b", nil)
		e := errs.As(err)
		if e == nil || e.Kind != tt.kind || e.Reason != tt.reason || e.RetryAfter != tt.retry || !strings.Contains(e.Error(), tt.says) {
			t.Errorf("%s: %+v", tt.name, e)
			continue
		}
		if Temporary(err) != tt.temporary {
			t.Errorf("%s: Temporary = %v, want %v", tt.name, !tt.temporary, tt.temporary)
		}
		if CertainlyNotSent(err) {
			t.Errorf("%s: counts as not sent", tt.name)
		}
		if !utf8.ValidString(e.Message) {
			t.Errorf("%s: %q was cut inside a letter", tt.name, e.Message)
		}
	}
}

func TestAHubThatFallsBackToAnOlderWireIsLeft(t *testing.T) {
	hub := newHub(t, says(200, `{"messages":[]}`))
	hub.wire = "1"
	if _, err := joined(t, hub, controller(t)).Poll(t.Context(), wire.Poll{}); !errs.Is(err, WireTooOld) || Temporary(err) {
		t.Errorf("Poll = %v", err)
	}
}

// A maintenance page with status 200 is no hub of an older wire.
func TestAnAnswerWithoutAWireIsAProxys(t *testing.T) {
	for _, page := range []string{`<html>back soon</html>`, `{"messages":[]}`} {
		hub := newHub(t, says(200, page))
		hub.wire = ""
		if _, err := joined(t, hub, controller(t)).Poll(t.Context(), wire.Poll{}); !errs.Is(err, "hub_answer_invalid") || !Temporary(err) {
			t.Errorf("Poll answered with %s = %v, want hub_answer_invalid, which passes", page, err)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := newHub(t, says(200, `{}`))
	hub := newHub(t, says(307, ``, "Location", elsewhere.URL+"/relay/send"))
	if _, err := joined(t, hub, controller(t)).Send(t.Context(), "b", nil); !errs.Is(err, "hub_redirects") {
		t.Errorf("Send = %v", err)
	}
	if len(elsewhere.requests) != 0 {
		t.Errorf("the other host saw %+v", elsewhere.requests)
	}
}

func TestAHubThatIsDownGotNothing(t *testing.T) {
	hub := newHub(t, says(200, `{}`))
	c := joined(t, hub, controller(t))
	hub.Close()
	_, err := c.Send(t.Context(), "b", nil)
	if !errs.Is(err, Unreachable) || !CertainlyNotSent(err) || !Temporary(err) {
		t.Errorf("Send = %v", err)
	}
}

// Whose fault a refused certificate is differs, and so does what to do.
func TestACertificateThatIsRefusedIsNamed(t *testing.T) {
	hub := httptest.NewTLSServer(says(200, `{}`))
	t.Cleanup(hub.Close)
	hub.Config.ErrorLog = log.New(io.Discard, "", 0)
	known, ended := hub.Client().Transport.(*http.Transport), hub.Client().Transport.(*http.Transport).Clone()
	ended.TLSClientConfig.Time = func() time.Time { return hub.Certificate().NotAfter.Add(time.Hour) }
	for reason, at := range map[string]struct {
		url       string
		transport http.RoundTripper
	}{
		Untrusted: {hub.URL, newTransport()},
		WrongName: {strings.Replace(hub.URL, "127.0.0.1", "localhost", 1), known},
		OutOfDate: {hub.URL, ended},
	} {
		_, err := Meet(t.Context(), Options{Hub: Pin{URL: at.url}, Transport: at.transport})
		if !errs.Is(err, reason) || !CertainlyNotSent(err) || !Temporary(err) {
			t.Errorf("Meet = %v, want %s and nothing sent", err, reason)
		}
	}
}

func TestARegistrationOfAnotherIsNone(t *testing.T) {
	hub := newHub(t, says(200, `{"aid":"c","status":"registered"}`))
	if _, err := joined(t, hub, controller(t)).Register(t.Context(), wire.Register{AID: "b"}); !errs.Is(err, "hub_answer_invalid") {
		t.Errorf("Register = %v", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	hold := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	hub := newHub(t, func(w http.ResponseWriter, r *http.Request) { cancel(); <-hold })
	defer close(hold)
	_, err := joined(t, hub, controller(t)).Poll(ctx, wire.Poll{})
	if !errs.Is(err, ConnectionLost) || ctx.Err() == nil {
		t.Errorf("Poll = %v", err)
	}
}

// A page with one large envelope takes its text, its bytes and little more.
func TestAPollTakesLittleMoreThanItsEnvelope(t *testing.T) {
	const size = 16 << 20
	body, err := json.Marshal(wire.Polled{Messages: []wire.Message{{ID: 1, Envelope: make([]byte, size)}}})
	if err != nil {
		t.Fatal(err)
	}
	grown := allocated(func() {
		data, err := readAll(bytes.NewReader(body), int64(len(body)))
		var out wire.Polled
		if err == nil {
			err = decode(answer{body: data}, "/relay/poll", &out)
		}
		if err != nil || len(out.Messages) != 1 || len(out.Messages[0].Envelope) != size {
			t.Fatal(err)
		}
	})
	if testkit.Race {
		grown /= 2 // of two buffers, each allocated twice
	}
	if grown > 3*size {
		t.Errorf("an envelope of %d bytes takes %d, want less than three times that", size, grown)
	}
}

// allocated is how many bytes do takes from the heap, those it gives back
// included.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
