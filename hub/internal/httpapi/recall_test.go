package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/wire"
)

// pair is two processes on one database.
func pair(t *testing.T) (here, there *town) {
	here = newTown(t)
	there = newTownOn(t, here.pool, admission.Door{})
	there.advance(time.Second) // no signature of one is the other's
	return here, there
}

// lookedUp tells whether something made the process look at the record.
func (w *town) lookedUp(do func()) bool {
	before := w.asked.standing.Load()
	do()
	return w.asked.standing.Load() > before
}

// A process that remembers a registration answers its repetition as one that
// does not, without a look at the record.
func TestARecalledRegistrationIsAnsweredAsALookedUpOne(t *testing.T) {
	here, there := pair(t)
	n := here.node("alice")
	r := n.Register("alice", "a", "b", "no,")
	r.EncKeys, r.A2ACard = n.Keyset(testNow, false), n.Card(1, testNow, "alice", "text.digest")
	here.mustRegister(n, r)
	var recalled, looked answer
	if here.lookedUp(func() { recalled = here.register(n, r) }) {
		t.Error("what is remembered was looked up")
	}
	if !there.lookedUp(func() { looked = there.register(n, r) }) {
		t.Error("what is not remembered was not looked up")
	}
	if recalled.StatusCode != 200 || !bytes.Equal(recalled.raw, looked.raw) {
		t.Errorf("recalled: %d %s, looked up: %s", recalled.StatusCode, recalled.raw, looked.raw)
	}
	for _, name := range []string{"Content-Type", headerPolicy} {
		if got, want := recalled.Header.Get(name), looked.Header.Get(name); got != want || got == "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if there.lookedUp(func() { there.register(n, r) }) {
		t.Error("what was looked up once is not remembered")
	}
}

// What happened since, here or at another process, keeps a remembered
// registration from being the answer.
func TestAMemoryThatIsOutOfDateAnswersNothing(t *testing.T) {
	type story struct {
		here, there *town
		n           *directorytest.Node
		body        wire.Register
	}
	for why, tt := range map[string]struct {
		since func(s story)
		want  string // in the answer to the same body again
	}{
		"another body at another process": {func(s story) {
			s.there.mustRegister(s.n, s.n.Register("alice", "a", "c"))
		}, `"added":1,"removed":1,"unchanged":1`},
		"another body, and this one again, with a card that stays": {func(s story) {
			other := s.body
			other.A2ACard = s.n.Card(1, testNow, "alice", "text.digest")
			s.there.mustRegister(s.n, other)
			s.there.mustRegister(s.n, s.body)
		}, `"card_status":"absent","added":0,"removed":0,"unchanged":3`},
		"a departure at another process": {func(s story) {
			s.there.call(s.n, wire.ActionDeregister, "/agents/"+s.n.AID()+"/deregister", struct{}{})
		}, `"keys_status":"ok","card_status":"absent","added":2`},
		"a departure here": {func(s story) {
			s.here.call(s.n, wire.ActionDeregister, "/agents/"+s.n.AID()+"/deregister", struct{}{})
		}, `"keys_status":"ok","card_status":"absent","added":2`},
		"a newer key set at another process": {func(s story) {
			s.there.call(s.n, wire.ActionKeys, "/agents/"+s.n.AID()+"/keys", wire.Keyset{Keyset: s.n.Keyset(testNow.Add(time.Minute), true)})
		}, `"keys_status":"conflict"`},
		"another profile at another process": {func(s story) {
			s.there.call(s.n, wire.ActionProfile, "/profile", wire.Profile{Summary: "s"})
		}, `"keys_status":"unchanged","card_status":"absent","added":0,"removed":0,"unchanged":2`},
		"the end of the keys": {func(s story) { s.here.advance(40 * 24 * time.Hour) }, `"keys_status":"invalid"`},
		"a longer history at another process": {func(s story) {
			old := s.n.Key
			s.n.Rotate(testNow)
			s.there.mustRegister(s.n, s.n.Register("alice", "a", "b"))
			s.n.Key = old
		}, `"code":"kel_rollback"`},
	} {
		t.Run(why, func(t *testing.T) {
			var s story
			s.here, s.there = pair(t)
			s.n = s.here.node(why)
			s.body = s.n.Register("alice", "a", "b")
			s.body.EncKeys = s.n.Keyset(testNow, false)
			s.here.mustRegister(s.n, s.body)
			tt.since(s)
			if a := s.here.register(s.n, s.body); !strings.Contains(string(a.raw), tt.want) {
				t.Errorf("%d %s, want %s", a.StatusCode, a.raw, tt.want)
			}
		})
	}
}

// A longer history that came with a registration that was refused takes nothing
// from the one that counts.
func TestAHistoryThatWasRefusedIsNotTheOneThatCounts(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	r := n.Register("alice", "a")
	w.mustRegister(n, r)
	old := n.Key
	n.Rotate(testNow)
	refused := n.Register("alice", "b")
	refused.Card = wire.RawJSON(`{}`)
	if a := w.register(n, refused); a.StatusCode != 400 {
		t.Fatalf("%d %s", a.StatusCode, a.raw)
	}
	if n.Key = old; !strings.Contains(string(w.register(n, r).raw), `"added":0,"removed":0,"unchanged":1`) {
		t.Error("the registration on record is not unchanged")
	}
}

// Headers and signature are checked for a remembered body as for any other, and
// a signature is good once, at whichever process.
func TestARecalledRegistrationIsCheckedAsAnyOther(t *testing.T) {
	here, there := pair(t)
	n, eve := here.node("alice"), here.node("eve")
	r := n.Register("alice", "a")
	here.mustRegister(n, r)
	here.mustRegister(eve, eve.Register("eve", "a"))
	expect := func(what string, w *town, req *http.Request, status int, code string) {
		t.Helper()
		if a := w.do(req); a.StatusCode != status || a.code() != code {
			t.Errorf("%s: %d %s, want %d %s", what, a.StatusCode, a.raw, status, code)
		}
	}
	once := here.signed(n, wire.ActionRegister, "/register", r)
	body, _ := io.ReadAll(once.Body)
	again := func() *http.Request { once.Body = io.NopCloser(bytes.NewReader(body)); return once }
	there.register(n, r) // remembers it as well
	expect("the first time", here, again(), 200, "")
	expect("the second time", here, again(), 401, "replayed")
	expect("at another process", there, again(), 401, "replayed")

	bad := here.signed(n, wire.ActionRegister, "/register", r)
	bad.Header.Set(wire.HeaderSig, strings.Repeat("A", 86))
	expect("no signature of the agent's", here, bad, 401, "bad_signature")
	expect("another action", here, here.signed(n, wire.ActionPoll, "/register", r), 401, "bad_signature")
	expect("another agent's body", here, here.signed(eve, wire.ActionRegister, "/register", r), 401, "not_the_owner")
	old := here.signed(n, wire.ActionRegister, "/register", r)
	here.advance(6 * time.Minute)
	expect("an old date", here, old, 401, "stale_timestamp")
}

// The limit of one agent holds for repetitions; one that memory could not answer
// counts once.
func TestRecalledRegistrationsAreLimited(t *testing.T) {
	here, there := pair(t)
	n := here.node("alice")
	r := n.Register("alice", "a")
	here.mustRegister(n, r)
	here.mustRegister(n, r)
	there.mustRegister(n, n.Register("alice", "b"))
	if a := here.register(n, r); a.Header.Get(headerQuota) != `"register_rate_agent";r=27` {
		t.Errorf("after three: %s left", a.Header.Get(headerQuota))
	}
	taken := 3
	for range 40 {
		if here.register(n, r).StatusCode == 200 {
			taken++
		}
	}
	if taken != 30 {
		t.Errorf("%d registrations in a moment were taken, want 30", taken)
	}
}
