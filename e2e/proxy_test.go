package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/testkit/need"
	"github.com/anet-hub/anet/shared/wire"
)

var proxies = []struct {
	name  string
	start func(testing.TB, *stage.Hub, ...string) *stage.Proxy
}{
	{"nginx", stage.Nginx},
	{"caddy", stage.Caddy},
}

// behind tells a story behind each proxy, and each way to speak to it.
func behind(t *testing.T, hub *stage.Hub, story func(t *testing.T, p *stage.Proxy, http2 bool)) {
	for _, proxy := range proxies {
		t.Run(proxy.name, func(t *testing.T) {
			t.Parallel()
			p := proxy.start(t, hub)
			for _, http2 := range []bool{false, true} {
				t.Run(fmt.Sprintf("http2=%v", http2), func(t *testing.T) { story(t, p, http2) })
			}
		})
	}
}

// A body meets the hub's limits, whatever stands before it.
func TestBigBodiesMeetTheSameLimitBehindAProxy(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{Args: []string{"--relay-max-envelope", "4MiB"}})
	alice := stage.NewAgent(t, hub.Hub)
	alice.Register()
	bodies := []struct {
		name string
		body []byte
	}{
		{"an envelope", mailOf(alice, envelopeCap)},
		{"one byte more", mailOf(alice, envelopeCap+1)},
		{"ten times", mailOf(alice, 10*envelopeCap)},
		{"the route's limit, of nothing", bytes.Repeat([]byte(" "), sendCap)},
		{"one byte beyond it", bytes.Repeat([]byte(" "), sendCap+1)},
		{"one string of 50 MB", []byte(`{"to_aid":"` + strings.Repeat("a", 50<<20) + `"}`)},
		{"a bomb", bomb()},
		{"lists 100,000 deep", []byte(strings.Repeat("[", 100_000))},
	}
	behind(t, hub.Hub, func(t *testing.T, p *stage.Proxy, http2 bool) {
		through, direct := p.Through(t, alice, http2), alice.In(t)
		for _, tt := range bodies {
			want := direct.Do(wire.ActionSend, "/relay/send", tt.body)
			for how, got := range map[string]stage.Answer{
				"":           through.Do(wire.ActionSend, "/relay/send", tt.body),
				" in chunks": chunked(t, through, tt.body),
			} {
				if got.Code() != want.Code() || got.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s%s: %.200s, without the proxy %s", tt.name, how, got, want.Code())
				}
			}
		}
		// Announced and not sent: who refuses it is the proxy, or the hub, and in one form.
		r := through.Request(wire.ActionSend, "/relay/send", nil)
		r.ContentLength, r.Body = 1<<30, io.NopCloser(io.LimitReader(zeros{}, 1<<30))
		answer, err := stage.Send(through.HTTP, r)
		if err != nil || answer.Code() != "413 body_too_large" {
			t.Errorf("a gigabyte: %.200s, %v", answer, err)
		}
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func mailOf(a *stage.Agent, size int) []byte {
	empty := len(stage.Sealed(a.AID(), 1<<20)) - 1<<20
	body, err := json.Marshal(wire.Send{ToAID: a.AID(), Envelope: stage.Sealed(a.AID(), size-empty)})
	if err != nil {
		panic(err)
	}
	return body
}

// The largest envelope there is passes, and comes back out of a poll.
func TestTheLargestEnvelopeBehindAProxy(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{Args: []string{"--relay-poll-budget", "96MiB"}})
	behind(t, hub.Hub, func(t *testing.T, p *stage.Proxy, http2 bool) {
		alice := stage.NewAgent(t, hub.Hub)
		alice.Register()
		through := p.Through(t, alice, http2)
		if got := through.Do(wire.ActionSend, "/relay/send", mailOf(alice, wire.MaxEnvelopeBytes)); got.Status != http.StatusOK {
			t.Fatalf("96 MiB are answered %.200s", got)
		}
		if got := through.Poll(wire.Poll{}); len(got.Messages) != 1 || len(got.Messages[0].Envelope) != wire.MaxEnvelopeBytes {
			t.Errorf("%d messages came back", len(got.Messages))
		}
	})
}

// A signature covers the target as it was sent, to the letter.
func TestTargetsPassUnchangedBehindAProxy(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	behind(t, &hub.Hub, func(t *testing.T, p *stage.Proxy, http2 bool) {
		alice := p.Through(t, stage.NewAgent(t, &hub.Hub), http2)
		alice.Register()
		for _, target := range []string{"/relay/poll", "/relay/poll?", "/relay/poll?a=%2f&b=+&c", "/relay/poll?a=%E2%82%AC"} {
			r := alice.Request(wire.ActionPoll, target, []byte("{}"))
			if got, err := stage.Send(alice.HTTP, r); err != nil || got.Status != http.StatusOK {
				t.Errorf("%s: %s, %v", target, got, err)
			}
		}
	})
}

// What a client writes into a proxy's headers gives it no other rate than its own.
func TestForgedAddressesBehindAProxy(t *testing.T) {
	t.Parallel()
	for _, proxy := range proxies {
		t.Run(proxy.name, func(t *testing.T) {
			t.Parallel()
			hub := stage.StartHub(t, stage.HubConfig{Env: []string{"ANET_HUB_REGISTER_BURST=3", "ANET_HUB_REGISTER_RATE=0.001"}})
			p := proxy.start(t, hub.Hub)
			for i := range 5 {
				stranger := p.Through(t, stage.NewAgent(t, hub.Hub), i%2 == 0)
				body, err := json.Marshal(stranger.Registration())
				stage.Must(t, err)
				r := stranger.Request(wire.ActionRegister, "/register", body)
				for _, name := range []string{"X-Real-IP", "X-Forwarded-For", "Forwarded", "Client-IP", "True-Client-IP"} {
					r.Header.Set(name, fmt.Sprintf("198.51.100.%d", i))
				}
				r.Header.Set("Forwarded", fmt.Sprintf("for=198.51.100.%d", i))
				got, err := stage.Send(stranger.HTTP, r)
				if want := map[bool]string{true: "200", false: "429 register_rate"}[i < 3]; err != nil || got.Code() != want {
					t.Errorf("registration %d: %s, %v, want %s", i, got, err, want)
				}
			}
		})
	}
}

// A poll ends by itself after 55 s, a message that comes after a long silence is
// there at once, and a hub that stops ends polls without a failure.
func TestLongPollsBehindAProxy(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	behind(t, hub.Hub, func(t *testing.T, p *stage.Proxy, http2 bool) {
		t.Parallel()
		quiet, bob := stage.NewAgent(t, hub.Hub), stage.NewAgent(t, hub.Hub)
		quiet.Register()
		bob.Register()
		ended := make(chan string, 1)
		go func() {
			start := time.Now()
			answer, err := p.Through(t, quiet, http2).Try(wire.ActionPoll, "/relay/poll", wire.Poll{WaitMS: stage.Wait(time.Hour)})
			took := time.Since(start)
			if want := "200 {\"messages\":[],\"wait_ms\":55000}\n"; err != nil || answer.String() != want || took < 55*time.Second || took > 55*time.Second+stage.Stall {
				ended <- fmt.Sprintf("a poll of 55 s ended after %s with %.200s, %v", took, answer, err)
			}
			close(ended)
		}()
		brought := bringsAfter(t, 40*time.Second, p.Through(t, bob, http2)) // silence is what this is about
		brought(func() int64 { return bob.Mail(bob.AID(), 1000) })
		if bad := <-ended; bad != "" {
			t.Error(bad)
		}
	})
}

func TestAHubStopsBehindAProxy(t *testing.T) {
	t.Parallel()
	for _, proxy := range proxies {
		t.Run(proxy.name, func(t *testing.T) {
			t.Parallel()
			hub := stage.StartHub(t, stage.HubConfig{})
			p := proxy.start(t, hub.Hub)
			bob := stage.NewAgent(t, hub.Hub)
			bob.Register()
			through, answer := p.Through(t, bob, true), make(chan string, 1)
			go func() {
				a, err := through.Try(wire.ActionPoll, "/relay/poll", wire.Poll{WaitMS: stage.Wait(50 * time.Second)})
				answer <- fmt.Sprint(a, err)
			}()
			stage.Until(t, stage.Patience, "the poll waits", func() bool { return pollsWaiting(t, hub.Hub) == 1 })
			_, err := hub.Stop(t)
			stage.Must(t, err)
			if got := <-answer; !strings.HasPrefix(got, `200 {"messages":[]`) {
				t.Errorf("the poll ended with %s", got)
			}
			away, err := through.HTTP.Get(p.URL + "/healthz")
			stage.Must(t, err)
			defer away.Body.Close()
			if away.StatusCode != http.StatusServiceUnavailable || away.Header.Get("Content-Type") != "application/json" || away.Header.Get("Retry-After") == "" {
				t.Errorf("without the hub: %s %v", away.Status, away.Header)
			}
		})
	}
}

// The hub may listen at a socket instead of a port.
func TestAProxyReachesTheHubAtASocket(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		start func(testing.TB, *stage.Hub, ...string) *stage.Proxy
		names string // how the proxy names a socket
	}{{stage.Nginx, "unix:"}, {stage.Caddy, "unix/"}} {
		socket := need.SocketDir(t) + "/hub.sock"
		stage.LaunchHub(t, stage.HubConfig{Args: []string{"--listen", "unix:" + socket}, Env: []string{"ANET_HUB_REGISTER_BURST=1", "ANET_HUB_REGISTER_RATE=0.001"}})
		p := tt.start(t, &stage.Hub{URL: "http://" + tt.names + socket})
		var id wire.Identity
		resp, err := p.Client(t, false).Get(p.URL + "/hub/identity")
		stage.Must(t, err)
		stage.Must(t, json.NewDecoder(resp.Body).Decode(&id))
		resp.Body.Close()
		p.Hub.AID = id.AID
		for i, want := range []string{"200", "429 register_rate"} {
			a := p.Through(t, stage.NewAgent(t, p.Hub), true)
			if got := a.Do(wire.ActionRegister, "/register", a.Registration()).Code(); got != want {
				t.Errorf("registration %d: %s, want %s", i, got, want)
			}
		}
	}
}

// A log beside the hub's holds no agent, and outsiders get no figures.
func TestProxiesKeepNoAgents(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	behind(t, &hub.Hub, func(t *testing.T, p *stage.Proxy, http2 bool) {
		alice := p.Through(t, stage.NewAgent(t, &hub.Hub), http2)
		alice.Register()
		for _, path := range []string{"/agents/" + alice.AID(), "/agents?q=" + alice.AID(), "/nowhere/" + alice.AID(), "/" + strings.Repeat("x", 64<<10) + alice.AID()} {
			r, err := http.NewRequest(http.MethodGet, p.URL+path, nil)
			stage.Must(t, err)
			_, _ = stage.Send(alice.HTTP, r) // one is refused by the proxy itself
		}
		r, err := http.NewRequest(http.MethodGet, p.URL+"/metrics", nil)
		stage.Must(t, err)
		if got, err := stage.Send(alice.HTTP, r); err != nil || got.Code() != "404 no_such_route" {
			t.Errorf("/metrics: %.200s, %v", got, err)
		}
		var kept string
		stage.Until(t, stage.Patience, "the access log has lines", func() bool {
			b, _ := os.ReadFile(p.Access)
			kept = string(b)
			return strings.Contains(kept, "404")
		})
		if kept += p.Log(); strings.Contains(kept, alice.AID()) {
			t.Errorf("a log holds the agent:\n%s", kept)
		}
	})
}

// Connections that drip hold up neither proxy nor hub.
func TestSlowConnectionsBehindAProxy(t *testing.T) {
	t.Parallel()
	for _, proxy := range proxies {
		t.Run(proxy.name, func(t *testing.T) {
			hub := stage.StartHub(t, stage.HubConfig{})
			p := proxy.start(t, hub.Hub)
			direct := stage.NewAgent(t, hub.Hub)
			direct.Register()
			agent := p.Through(t, direct, false)
			before := openFiles(t, hub.PID())
			drip := func(d *drippers, begin string, next byte, every time.Duration) {
				conn, err := tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), &tls.Config{RootCAs: p.Roots})
				if err != nil {
					t.Error(err)
					return
				}
				d.dripAt(conn, begin, next, every)
			}
			var d drippers
			arriving, arrived := context.WithCancel(t.Context())
			go func() { // on a slow machine the first are closed before the last have come
				defer arrived()
				for range slowHeaders {
					drip(&d, "GET /healthz HTTP/1.1\r\nHost: ", 'x', 5*time.Second)
				}
				for range slowBodies {
					drip(&d, "POST /agents/keys:lookup HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n", ' ', time.Second)
				}
			}()
			answered := map[string]int{"through the proxy": 0, "directly": 0}
			polls := func(ctx context.Context) {
				for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
					for way, a := range map[string]*stage.Agent{"through the proxy": agent, "directly": direct} {
						if a.Poll(wire.Poll{}); d.crowd(slowBodies / 2) {
							answered[way]++
						}
					}
				}
			}
			polls(arriving)
			dripping, over := context.WithTimeout(t.Context(), bodyLimit+10*time.Second)
			defer over()
			polls(dripping)
			for way, n := range answered {
				if n < manyAnswers {
					t.Errorf("beside the slow connections a poll %s was answered %d times, want it many times", way, n)
				}
			}
			stage.Until(t, stage.Patience, "the hub has let go of them", func() bool { return openFiles(t, hub.PID()) <= before+70 })
			if longest := d.longest(false); longest == 0 || longest > headerLimit+stage.Stall {
				t.Errorf("the last slow header was closed after %s, want %s", longest, headerLimit)
			}
			d.hangUp()
		})
	}
}
