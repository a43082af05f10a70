// Package directorytest makes agents that register, for tests of the directory's
// store and of its HTTP face.
package directorytest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Node is an agent with its keys.
type Node struct {
	Key  *identity.Controller
	Ring enckeys.Ring
	t    testing.TB
}

// NewNode makes an agent nobody knows.
func NewNode(t testing.TB, now time.Time) *Node {
	t.Helper()
	return NewNodeFrom(t, rand.Reader, now)
}

// NewNodeFrom draws the identity's keys from random, so that a transcript can
// name the same agent every time.
func NewNodeFrom(t testing.TB, random io.Reader, now time.Time) *Node {
	t.Helper()
	key, err := identity.NewController(random, now)
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{Key: key, t: t}
	if n.Ring, _, err = n.Ring.Advance(now); err != nil {
		t.Fatal(err)
	}
	return n
}

// AID is the agent's id.
func (n *Node) AID() string { return n.Key.AID() }

// Rotate moves to the next identity key.
func (n *Node) Rotate(now time.Time) {
	n.t.Helper()
	next, err := n.Key.Rotate(rand.Reader, now)
	if err != nil {
		n.t.Fatal(err)
	}
	n.Key = next
}

// Keyset is the signed key set; fresh gives it a new sequence.
func (n *Node) Keyset(now time.Time, fresh bool) []byte {
	n.t.Helper()
	publish := n.Ring.Publish
	if fresh {
		publish = n.Ring.Renew
	}
	ring, raw, err := publish(n.Key, now)
	if err != nil {
		n.t.Fatal(err)
	}
	n.Ring = ring
	return raw
}

// Card is a signed network card with a sequence of its own.
func (n *Node) Card(seq int64, now time.Time, name string, skills ...string) []byte {
	n.t.Helper()
	p := card.Profile{AID: n.AID(), HubURL: "https://hub.example.org", Name: name}
	for _, s := range skills {
		p.Skills = append(p.Skills, card.Skill{ID: s})
	}
	unsigned, err := p.Build(card.Stamp{Seq: seq, IssuedAt: now.UnixMilli(), NotBefore: now.UnixMilli() - 60_000})
	if err != nil {
		n.t.Fatal(err)
	}
	raw, err := card.Sign(n.Key, unsigned, "")
	if err != nil {
		n.t.Fatal(err)
	}
	return raw
}

// ADPCard is an older card.
func (n *Node) ADPCard(seq uint64, now time.Time) []byte {
	n.t.Helper()
	at := uint64(now.Unix())
	c := adp.Card{Subject: n.AID(), Schema: adp.Schema{Major: 1}, Seq: seq, IssuedAt: at, NotBefore: at - 60}
	if err := c.Sign(n.Key); err != nil {
		n.t.Fatal(err)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		n.t.Fatal(err)
	}
	return raw
}

// Register is the body of a plain registration.
func (n *Node) Register(name string, caps ...string) wire.Register {
	return wire.Register{AID: n.AID(), Name: name, Caps: caps, KEL: n.Key.KEL()}
}

// Apply is a registration as the rules get it, with its body.
func (n *Node) Apply(r wire.Register) directory.Application {
	n.t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		n.t.Fatal(err)
	}
	app, err := directory.NewApplication(r, r.AID, sha256.Sum256(body))
	if err != nil {
		n.t.Fatal(err)
	}
	return app
}

// Proof is that of a request nobody made before.
func (n *Node) Proof(now time.Time) replay.Proof {
	p := replay.Proof{AID: n.AID(), SignedAt: now}
	_, _ = rand.Read(p.Key[:]) // never fails
	return p
}
