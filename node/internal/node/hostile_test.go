package node

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/task"
)

// unsealable gives the stranger a key set that verifies and that nobody can
// seal to: its one key is the zero point of the curve.
func (s *stranger) unsealable() {
	set, err := enckeys.Parse(s.keyset)
	s.w.must(err)
	pub := make([]byte, 32)
	set.Set.Keys[0].Pub, set.Set.Keys[0].KID = pub, enckeys.NewKID(envelope.SuiteX25519, pub)
	set.Bytes, err = codec.Marshal(set.Set)
	s.w.must(err)
	set.Sig = s.signer.Sign(set.Bytes)
	s.keyset, err = set.Wire()
	s.w.must(err)
	s.w.hub.Register(s.signer.AID(), s.signer.KEL(), s.keyset)
}

// A caller to whom nothing can be sealed costs its own answer and nothing more:
// the place of its call is free again, and the node starts the next time.
func TestACallerNobodyCanAnswer(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		limits := config.DefaultPublic("x")
		limits.MaxInflight = 1
		work := &counter{cap: "x"}
		bob, alice, mallory := w.node("bob", public(limits), serving(work)), w.node("alice"), w.stranger()
		mallory.unsealable()
		mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "x")))
		time.Sleep(time.Second)
		wantOutcome(t, "another caller", w.call(alice, Order{Provider: bob.aid(), Capability: "x"}), "completed OK  verified")
		if n := len(w.hub.Mail(bob.aid())); n != 0 {
			t.Errorf("%d messages stay in the mailbox, want none", n)
		}
		w.end(bob)
		bob = w.start(bob.dir, public(limits), serving(work))
		wantOutcome(t, "after a restart", w.call(alice, Order{Provider: bob.aid(), Capability: "x"}), "completed OK  verified")
	})
}

// A kill between the work and its answer leaves the answer to the next start,
// which such a caller must not keep from happening.
func TestACallerNobodyCanAnswerAfterAKill(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		var killed string
		bob, mallory := w.node("bob"), w.stranger()
		mallory.unsealable()
		work := &counter{cap: "x", after: func() { killed = w.snapshot(bob) }}
		w.end(bob)
		bob = w.start(bob.dir, public(config.DefaultPublic("x")), serving(work))
		mallory.send(bob, task.TypeDelegate, "ix_1", body(w, mallory.call("ix_1", "x")))
		time.Sleep(time.Second)
		w.end(bob)
		again := w.start(killed, public(config.DefaultPublic("x")), serving(work))
		time.Sleep(time.Second)
		wantOutcome(t, "the interrupted call", w.inbox(again)[0], "completed UNVERIFIED interrupted verified")
	})
}
