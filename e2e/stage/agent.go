package stage

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// Agent speaks the hub's API with signed requests and nothing of what a node
// does around them: it can be told to do what no node would.
type Agent struct {
	*identity.Controller
	Hub  *Hub
	HTTP *http.Client
	t    testing.TB
	ts   *atomic.Int64
	card []byte // the last one signed
}

// NewAgent makes an identity. The hub does not know it before Register.
func NewAgent(t testing.TB, h *Hub) *Agent {
	t.Helper()
	c, err := identity.NewController(rand.Reader, time.Now())
	Must(t, err)
	return &Agent{Controller: c, Hub: h, HTTP: NewClient(t), t: t, ts: &atomic.Int64{}}
}

// NewClient is an HTTP client with connections of its own.
func NewClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Timeout: 90 * time.Second, Transport: transport}
}

// At is the same agent at another hub or process.
func (a *Agent) At(h *Hub) *Agent {
	other := *a
	other.Hub = h
	return &other
}

// In is the same agent in a part of its test.
func (a *Agent) In(t testing.TB) *Agent {
	other := *a
	other.t = t
	return &other
}

// Answer is what a hub said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Status, a.Body) }

// Problem is the body of a refusal.
func (a Answer) Problem() (p wire.Problem) {
	_ = json.Unmarshal(a.Body, &p)
	return p
}

// RetryAfter is when the hub wants to be asked again, a tenth of a second where
// it does not say.
func (a Answer) RetryAfter() time.Duration {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil {
		return 100 * time.Millisecond
	}
	return time.Duration(seconds) * time.Second
}

// Code is "200" or the status and the reason of a refusal, for comparing.
func (a Answer) Code() string {
	if a.Status < 300 {
		return fmt.Sprint(a.Status)
	}
	return fmt.Sprint(a.Status, " ", a.Problem().Code)
}

// Read reads the body of the answer.
func (a Answer) Read(v any) error { return json.Unmarshal(a.Body, v) }

// Ask reads a body of the answer, which has to be a success.
func (a Answer) Ask(t testing.TB, v any) {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("answer %s", a)
	}
	Must(t, a.Read(v))
}

// Stamp is a time no request of this agent was signed with.
func (a *Agent) Stamp() uint64 {
	for {
		last, now := a.ts.Load(), time.Now().UnixMilli()
		if a.ts.CompareAndSwap(last, max(last+1, now)) {
			return uint64(max(last+1, now))
		}
	}
}

// Request builds a signed request.
func (a *Agent) Request(action, path string, body []byte) *http.Request {
	r, err := http.NewRequest(http.MethodPost, a.Hub.URL+path, bytes.NewReader(body))
	Must(a.t, err)
	r.Header.Set("Content-Type", "application/json")
	relayauth.Sign(a.Controller, action, a.Hub.AID, r, body, a.Stamp())
	return r
}

// Try sends a signed request; the error is the connection's.
func (a *Agent) Try(action, path string, body any) (Answer, error) {
	raw, isRaw := body.([]byte)
	if !isRaw {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return Answer{}, err
		}
	}
	return Send(a.HTTP, a.Request(action, path, raw))
}

// Do is Try where the hub has to answer. A hub that says it cannot just now
// is asked again when it said, with a new signature, as a node would.
func (a *Agent) Do(action, path string, body any) Answer {
	a.t.Helper()
	for start := time.Now(); ; {
		answer, err := a.Try(action, path, body)
		Must(a.t, err)
		if answer.Status != http.StatusServiceUnavailable || time.Since(start) > Patience {
			return answer
		}
		time.Sleep(answer.RetryAfter())
	}
}

// Send sends a request and reads the whole answer.
func Send(c *http.Client, r *http.Request) (Answer, error) {
	resp, err := c.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, body}, err
}

// Get asks without a signature.
func (h *Hub) Get(t testing.TB, path string) Answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, h.URL+path, nil)
	Must(t, err)
	answer, err := Send(http.DefaultClient, r)
	Must(t, err)
	return answer
}

// Register registers the agent with capability ids.
func (a *Agent) Register(caps ...string) wire.Registered {
	a.t.Helper()
	var done wire.Registered
	a.Do(wire.ActionRegister, "/register", a.Registration(caps...)).Ask(a.t, &done)
	return done
}

// Registration is the body of it.
func (a *Agent) Registration(caps ...string) wire.Register {
	return wire.Register{AID: a.AID(), Name: "an agent", Caps: caps, KEL: a.KEL()}
}

// Send puts an envelope into a mailbox.
func (a *Agent) Send(to string, env []byte) Answer {
	a.t.Helper()
	return a.Do(wire.ActionSend, "/relay/send", wire.Send{ToAID: to, Envelope: env})
}

// Mail sends an envelope that has to be taken, and gives its id.
func (a *Agent) Mail(to string, size int) int64 {
	a.t.Helper()
	var sent wire.Sent
	a.Send(to, Sealed(to, size)).Ask(a.t, &sent)
	return sent.ID
}

// Poll asks for mail.
func (a *Agent) Poll(q wire.Poll) wire.Polled {
	a.t.Helper()
	var got wire.Polled
	a.Do(wire.ActionPoll, "/relay/poll", q).Ask(a.t, &got)
	return got
}

// Ack acknowledges messages and gives the number deleted.
func (a *Agent) Ack(ids ...int64) int64 {
	a.t.Helper()
	var got wire.Acked
	a.Do(wire.ActionAck, "/relay/ack", wire.Ack{IDs: ids}).Ask(a.t, &got)
	return got.Acked
}

// Balance asks what is on the agent's account until it is told: after a crash signatures
// of before are refused for a moment.
func (a *Agent) Balance(within time.Duration) (credits uint64) {
	a.t.Helper()
	Until(a.t, within, "the hub tells a balance", func() bool {
		r, err := http.NewRequest(http.MethodGet, a.Hub.URL+"/agents/"+a.AID()+"/balance", nil)
		Must(a.t, err)
		relayauth.Sign(a.Controller, wire.ActionBalance, a.Hub.AID, r, nil, a.Stamp())
		answer, err := Send(a.HTTP, r)
		var b wire.Balance
		if err != nil || answer.Status != http.StatusOK || answer.Read(&b) != nil {
			return false
		}
		credits = b.Credits
		return true
	})
	return credits
}

// Wait is the wait_ms of a poll.
func Wait(d time.Duration) *int64 {
	ms := d.Milliseconds()
	return &ms
}

// Sealed is an envelope as far as a hub can tell. Nobody can open it.
func Sealed(to string, size int) []byte {
	secret := make([]byte, 32+size)
	rand.Read(secret)
	return envelope.Outer{To: to, Suite: envelope.SuiteX25519, Enc: secret[:32], CT: secret[32:]}.Bytes()
}
