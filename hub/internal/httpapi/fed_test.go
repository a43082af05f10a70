package httpapi

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// Checklist 48: each row of the table of wire 2, J.2, where it is the first that
// speaks: everything behind it is wrong as well.
func TestForwardOrder(t *testing.T) {
	h := newHarbour(t)
	paused, late, card := newController(t), newController(t), newController(t)
	h.peers.add(paused, func(p *peers.Peer) { p.Paused = true })
	h.peers.add(late, func(p *peers.Peer) { p.KEL = nil })
	h.peers.add(card, func(p *peers.Peer) { p.Delivery = false })
	wrong := func(f *wire.Forward) { f.DestAID, f.PayloadCID, f.Sig = "nobody", "x", nil }
	all := func(more func(*wire.Forward)) func(*wire.Forward) {
		return func(f *wire.Forward) { wrong(f); more(f) }
	}
	old := uint64(time.Now().Add(-forward.Memory - time.Minute).UnixMilli())
	for _, tt := range []struct {
		row    string
		from   *identity.Controller
		change func(*wire.Forward)
		status int
		label  string
	}{
		{"3: another version", h.from, all(func(f *wire.Forward) { f.V, f.OriginHubAID = 1, "x" }), 400, wire.LabelVersionUnsupported},
		{"4: no peer", newController(t), all(func(f *wire.Forward) { f.Hop = 9 }), 403, wire.LabelPolicyRefused},
		{"4: a peer that is paused", paused, all(func(f *wire.Forward) { f.Hop = 9 }), 403, wire.LabelPolicyRefused},
		{"4: a peer for discovery only", card, all(func(f *wire.Forward) { f.Hop = 9 }), 403, wire.LabelPolicyRefused},
		{"5: four hops", h.from, all(func(f *wire.Forward) { f.Hop = 4 }), 400, wire.LabelHopExceeded},
		{"5: it was here before", h.from, all(func(f *wire.Forward) { f.SeenHubs = []string{h.from.AID(), h.hub.AID()} }), 400, wire.LabelHopExceeded},
		{"6: another content id", late, wrong, 400, wire.LabelMalformed},
		{"6: no payload", late, all(func(f *wire.Forward) { f.Payload = nil }), 400, wire.LabelMalformed},
		{"6: a payload larger than an envelope", late, all(func(f *wire.Forward) { f.Payload = make([]byte, 4<<20+1) }), 413, wire.LabelTooLarge},
		{"7: nobody knows yet who it is", late, func(f *wire.Forward) { f.DestAID, f.TS = "nobody", old }, 502, wire.LabelPolicyRefused},
		{"8: too old", h.from, func(f *wire.Forward) { f.DestAID, f.TS = "nobody", old }, 401, wire.LabelInvalidSignature},
		{"8: from the end of time", h.from, func(f *wire.Forward) { f.DestAID, f.TS = "nobody", 1<<63-1 }, 401, wire.LabelInvalidSignature},
		{"8: another signer", h.from, func(f *wire.Forward) { f.DestAID, f.Sig = "nobody", nil }, 401, wire.LabelInvalidSignature},
		{"8: a key state there is not", h.from, func(f *wire.Forward) { f.DestAID, f.KeyStateSeq = "nobody", 7 }, 401, wire.LabelInvalidSignature},
		{"9: nobody", h.from, func(f *wire.Forward) { f.DestAID = "nobody" }, 404, wire.LabelUnknownDestination},
		{"9: nobody here", h.from, func(f *wire.Forward) { f.DestAID = h.hub.AID() }, 404, wire.LabelUnknownDestination},
		{"11: sealed to another", h.from, func(f *wire.Forward) {
			f.Payload = envelopeFor(h.from, 1)
			f.PayloadCID = codec.RawCID(f.Payload)
		}, 400, wire.LabelMalformed},
		{"12: three hops", h.from, func(f *wire.Forward) { f.Hop = 3 }, 202, ""},
		{"12: seen by none", h.from, func(f *wire.Forward) { f.SeenHubs = nil }, 202, ""},
		{"12: a fortnight old", h.from, func(f *wire.Forward) { f.TS = old + 120_000 }, 202, ""},
	} {
		status, answer := h.bring(h.signed(tt.from, h.sealedFor(h.to.AID()), tt.change))
		if status != tt.status {
			t.Errorf("%s: %d %s, want %d %s", tt.row, status, answer, tt.status, tt.label)
			continue
		}
		if tt.label == "" {
			if answer != `{"status":"queued"}` {
				t.Errorf("%s: %s", tt.row, answer)
			}
		} else if p := problem(t, answer); p.Error != tt.label {
			t.Errorf("%s: %s, want %s", tt.row, answer, tt.label)
		}
	}
}

// The rows whose order does not show in the body's members.
func TestForwardBodies(t *testing.T) {
	h := newHarbour(t)
	good := h.signed(h.from, h.sealedFor(h.to.AID()), unchanged)
	for _, tt := range []struct {
		why, body string
		status    int
		label     string
	}{
		{"no JSON", "{", 400, wire.LabelMalformed},
		{"null", "null", 400, wire.LabelMalformed},
		{"no object", "[]", 400, wire.LabelMalformed},
		{"a member that stands there twice", `{"v":2,"v":2}`, 400, wire.LabelMalformed},
		{"a payload that stands there twice", strings.Replace(good, `"payload":`, `"payload":"","payload":`, 1), 400, wire.LabelMalformed},
		{"a hop that is none", strings.Replace(good, `"hop":1`, `"hop":-1`, 1), 400, wire.LabelMalformed},
		{"a list longer than a body of one", `{"seen_hubs":["` + strings.Repeat(`","`, 30_000) + `"]}`, 400, wire.LabelMalformed},
		{"an empty object", "{}", 400, wire.LabelVersionUnsupported},
		{"a payload that is no text", strings.Replace(good, `"payload":"`, `"payload":7,"x":"`, 1), 400, wire.LabelMalformed},
		{"a payload in the other base64", strings.Replace(good, `"payload":"`, `"payload":"-_`, 1), 400, wire.LabelMalformed},
		{"larger than an envelope", strings.Repeat(" ", 6<<20), 413, wire.LabelTooLarge},
		{"members of another time", strings.Replace(good, `{"v"`, `{"kind":"x","sender":{},"v"`, 1), 202, ""},
		{"known already", good, 200, ""},
	} {
		status, answer := h.bring(tt.body)
		if status != tt.status || tt.label != "" && problem(t, answer).Error != tt.label {
			t.Errorf("%s: %d %.200s, want %d %s", tt.why, status, answer, tt.status, tt.label)
		}
	}
	// Slashes may be written with an escape.
	payload := h.sealedFor(h.to.AID())
	if status, answer := h.bring(strings.ReplaceAll(h.signed(h.from, payload, unchanged), "/", `\/`)); status != 202 {
		t.Errorf("escaped slashes: %d %s", status, answer)
	}
}

// What a peer brings lies in the mailbox as its sender sealed it, wakes who waits
// for it, and is there once.
func TestForwardIsDelivered(t *testing.T) {
	h := newHarbour(t)
	h.shutEyes() // nothing but the forward ends the wait
	env, polled := h.sealedFor(h.to.AID()), make(chan wire.Polled)
	go func() { polled <- h.poll(h.to, `{"wait_ms":55000}`) }()
	testkit.Until(t, "the poll waits", func() bool { return h.board.Waiting() == 1 })
	for i, want := range []string{`{"status":"queued"}`, `{"status":"DUPLICATE"}`} {
		if status, answer := h.bring(h.signed(h.from, env, unchanged)); status != []int{202, 200}[i] || answer != want {
			t.Errorf("%d: %d %s", i, status, answer)
		}
	}
	got := <-polled
	if len(got.Messages) != 1 || string(got.Messages[0].Envelope) != string(env) {
		t.Errorf("%d messages", len(got.Messages))
	}
}

// Nothing is taken while delivery is off, not even a body.
func TestForwardIsOff(t *testing.T) {
	h := newHarbour(t)
	h.peers.off = true
	if status, answer := h.bring("no matter what"); status != 403 || problem(t, answer).Error != wire.LabelPolicyRefused {
		t.Errorf("a forward: %d %s", status, answer)
	}
	if status, answer := h.askKeys(h.from, h.to.AID(), func(*http.Request) {}); status != 403 || problem(t, answer).Error != wire.LabelPolicyRefused {
		t.Errorf("keys: %d %s", status, answer)
	}
}

// A full mailbox ends a forward, and releases its claim.
func TestForwardToAFullMailbox(t *testing.T) {
	h := newHarbour(t)
	h.exec(`UPDATE mailbox SET count = 1000`)
	body := h.signed(h.from, h.sealedFor(h.to.AID()), unchanged)
	for range 2 {
		if status, answer := h.bring(body); status != 507 || problem(t, answer).Error != wire.LabelMailboxFull {
			t.Errorf("%d %s", status, answer)
		}
	}
	h.exec(`UPDATE mailbox SET count = 0`)
	if status, answer := h.bring(body); status != 202 {
		t.Errorf("with room: %d %s", status, answer)
	}
}

// Checklist 49: the order of wire 2, J.3.
func TestFedKeys(t *testing.T) {
	h := newHarbour(t)
	late := newController(t)
	h.peers.add(late, func(p *peers.Peer) { p.KEL = nil })
	h.exec(`INSERT INTO agent_keyset (aid, keyset) VALUES (@aid, @set)`, pgx.NamedArgs{"aid": h.to.AID(), "set": []byte("set")})
	var used http.Header
	stale := func(r *http.Request) { r.Header.Set(wire.HeaderTime, "1000") }
	for _, tt := range []struct {
		why    string
		as     *identity.Controller
		aid    string
		change func(*http.Request)
		status int
		label  string
	}{
		{"a peer", h.from, h.to.AID(), func(r *http.Request) { used = r.Header.Clone() }, 200, ""},
		{"with a signature that was used", h.from, h.to.AID(), func(r *http.Request) { r.Header = used }, 401, wire.LabelReplayed},
		{"unsigned", h.from, h.to.AID(), func(r *http.Request) { r.Header.Del(wire.HeaderSig) }, 401, wire.LabelAuthRequired},
		{"no peer, and too late", newController(t), h.to.AID(), stale, 403, wire.LabelPolicyRefused},
		{"one that is not proven, and too late", late, h.to.AID(), stale, 401, wire.LabelInvalidSignature},
		{"one that is not proven", late, h.to.AID(), func(*http.Request) {}, 502, wire.LabelPolicyRefused},
		{"another target", h.from, "nobody", func(r *http.Request) { r.URL.Path = "/fed/v2/keys/" + h.to.AID() }, 401, wire.LabelInvalidSignature},
		{"nobody here", h.from, h.from.AID(), func(*http.Request) {}, 404, wire.LabelNotFound},
		{"what is no AID", h.from, h.to.AID()[:20], func(*http.Request) {}, 404, wire.LabelNotFound},
	} {
		status, answer := h.askKeys(tt.as, tt.aid, tt.change)
		if status != tt.status || tt.label != "" && problem(t, answer).Error != tt.label {
			t.Errorf("%s: %d %s, want %d %s", tt.why, status, answer, tt.status, tt.label)
		}
		if k := (wire.FedKeys{}); status == 200 {
			if k = read[wire.FedKeys](t, answer); string(k.Keyset) != "set" || string(k.KEL) != string(h.to.KEL()) {
				t.Errorf("%s: %s", tt.why, answer)
			}
		}
	}
}

// A hub without memory for more says so, in the words between hubs.
func TestFederationIsBusy(t *testing.T) {
	for name, fill := range map[string]func(*harbour){
		"all of the memory":       func(h *harbour) { h.face.Budget = usedUp() },
		"what forwards may have":  func(h *harbour) { h.fed.Memory = usedUp() },
		"what one peer may bring": func(h *harbour) { h.fed.Receiver.Rate = admission.NewLimiter(0.01, 0, "forward_rate", time.Now) },
		"a database that is away": func(h *harbour) { h.face.Down = func(error) bool { return true }; h.db.Close() },
	} {
		h := newHarbour(t)
		fill(h)
		status, answer := h.bring(h.signed(h.from, h.sealedFor(h.to.AID()), unchanged))
		want := 503
		if name == "what one peer may bring" {
			want = 429
		}
		if status != want || problem(t, answer).Error != wire.LabelBusy {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

// The largest envelope passes in the least memory that a hub may have, when it is
// alone; one that is larger is told so, and not to come again.
func TestTheLargestForwardPasses(t *testing.T) {
	h := newHarbour(t)
	most := int(h.fed.Receiver.Limits.Envelope)
	h.fed.Memory = budget.New(4 * int64(most))
	least := len(h.sealedOf(0))
	for size, want := range map[int]int{most: 202, most + 1: 413} {
		env := h.sealedOf(size - least)
		env = h.sealedOf(2*size - least - len(env)) // a length takes bytes itself
		if len(env) != size {
			t.Fatalf("an envelope of %d bytes, want %d", len(env), size)
		}
		if status, answer := h.bring(h.signed(h.from, env, unchanged)); status != want {
			t.Errorf("%d bytes of at most %d: %d %.200s, want %d", size, most, status, answer, want)
		}
	}
}

// A fault of the hub is told as one, without its cause.
func TestFederationFails(t *testing.T) {
	h := newHarbour(t)
	h.db.Close()
	bring := func() (int, string) { return h.bring(h.signed(h.from, h.sealedFor(h.to.AID()), unchanged)) }
	keys := func() (int, string) { return h.askKeys(h.from, h.to.AID(), func(*http.Request) {}) }
	for _, ask := range []func() (int, string){bring, keys} {
		status, answer := ask()
		if p := problem(t, answer); status != 500 || p.Error != wire.LabelInternal || p.Detail != "internal error" {
			t.Errorf("%d %s", status, answer)
		}
	}
}

// A large forward holds little more than itself, its base64 and one copy.
func TestParsingAForwardCopiesNothing(t *testing.T) {
	raw := `{"v":2,"payload":"` + base64.StdEncoding.EncodeToString(make([]byte, 4<<20)) + `","hop":1}`
	body := []byte(raw)
	_, _ = parseForward(body) // what is made once is not counted
	n := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := parseForward(body); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if n > 64<<10 {
		t.Errorf("%d bytes for a body of %d", n, len(body))
	}
}

func FuzzParseForward(f *testing.F) {
	for _, seed := range []string{
		`{"v":2,"origin_hub_aid":"a","dest_aid":"b","payload":"AQID","payload_cid":"c","hop":1,"seen_hubs":["a"],"ts":1,"key_state_seq":0,"sig":"AQID"}`,
		`{"payload":"\/\u002b"}`, `{"payload":null}`, `{"payload":{"payload":"AQID"}}`, `{"payload":"AQ==","payload":1}`, `{`, `[]`, `{"a":"payload"}`,
	} {
		f.Add([]byte(seed))
	}
	plenty := budget.New(1 << 40)
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := parseForward(body)
		if err != nil {
			return
		}
		defer func() { in.release() }()
		payload, err := in.payload(plenty)
		var plain struct{ Payload *string }
		if bad := codec.UnmarshalObject(body, &plain); bad != nil {
			return // in the payload, where nobody looks but its reader
		}
		if err == nil && plain.Payload != nil && base64.StdEncoding.EncodeToString(payload) != *plain.Payload {
			t.Errorf("%q was read as %x", *plain.Payload, payload)
		}
	})
}
