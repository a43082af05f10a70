package envelope

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"

	"github.com/anet-hub/anet/shared/identity"
)

// The keys of the inner map (section E.4). 0, 30, 31 and 32 stand in the
// signed preimage only.
const (
	keyLabel = 0
	keyFrom  = 1
	keyKSN   = 2
	keyTo    = 3
	keyType  = 4
	keyIx    = 5
	keyMID   = 6
	keyTS    = 7
	keyExp   = 8
	keyBody  = 9
	keyKEL   = 10
	keyKeys  = 12
	keySig   = 20
	keyPad   = 21
	keyEnc   = 30
	keyKID   = 31
	keySuite = 32
)

// MID names a message; with its sender's AID it is what makes a repetition one.
type MID [16]byte

// NewMID makes a fresh one.
func NewMID() (m MID) {
	rand.Read(m[:]) // never fails: it ends the program rather than return less
	return m
}

func (m MID) String() string { return hex.EncodeToString(m[:]) }

// Message is an opened envelope. Its sender is only claimed until
// VerifyInnerSig accepted it.
type Message struct {
	From string
	KSN  uint64 // the sender's key state
	To   string
	Type string
	Ix   string // the task, may be empty
	MID  MID
	TS   uint64 // ms
	Exp  uint64 // ms
	Body []byte
	KEL  []byte
	Keys []byte // the sender's signed key set

	sig     []byte
	outer   Outer
	members members
}

// parseInner reads the decrypted map in the order of section E.4.
func parseInner(plain []byte, o Outer) (*Message, error) {
	m, ok := parseMembers(plain)
	if !ok {
		return nil, BadInner.Errorf("the message is not one CBOR map with unsigned keys")
	}
	if k, found := m.unknown(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, keyKeys, keySig, keyPad); found {
		return nil, UnknownCriticalField.Errorf("the message has the member %d, which has to be understood", k)
	}
	r := reader{members: m}
	msg := r.message()
	if r.failed {
		return nil, BadInner.Errorf("the message's member %d is missing or of another type", r.bad)
	}
	msg.outer, msg.members = o, m
	return msg, msg.check()
}

// reader takes typed members out of a map and remembers the first that is not
// what it should be; null never is.
type reader struct {
	members members
	bad     uint64
	failed  bool
}

func (r *reader) message() *Message {
	return &Message{
		From: r.text(keyFrom), KSN: r.uint(keyKSN), To: r.text(keyTo), Type: r.text(keyType), Ix: r.text(keyIx),
		MID: MID(r.fixed(keyMID, len(MID{}))), TS: r.uint(keyTS), Exp: r.uint(keyExp),
		Body: r.bytes(keyBody), KEL: r.bytes(keyKEL), Keys: r.bytes(keyKeys),
		sig: r.fixed(keySig, ed25519.SignatureSize),
	}
}

func (r *reader) expect(k uint64, ok bool) {
	if !ok && !r.failed {
		r.bad, r.failed = k, true
	}
}

func (r *reader) uint(k uint64) uint64 {
	n, ok := r.members[k].uint()
	r.expect(k, ok)
	return n
}

func (r *reader) text(k uint64) string {
	s, ok := r.members[k].text()
	r.expect(k, ok && r.members[k].definite())
	return s
}

// bytes takes no string in chunks: what is signed has one form (section A.1).
func (r *reader) bytes(k uint64) []byte {
	b, ok := r.members[k].bytes()
	r.expect(k, ok && r.members[k].definite())
	return b
}

func (r *reader) fixed(k uint64, n int) []byte {
	b := r.bytes(k)
	if len(b) != n {
		r.expect(k, false)
		return make([]byte, n)
	}
	return b
}

// check holds what is left of section E.4 once the types are right.
func (m *Message) check() error {
	switch {
	case m.To != m.outer.To:
		return ToMismatch.Errorf("the message inside is for %.80q", m.To)
	case len(m.KEL) > identity.MaxKELBytes || item(m.KEL).arg() > identity.MaxEvents:
		return KELTooLarge.Errorf("the sender's key history is larger than its caps")
	}
	return m.checkPad()
}

func (m *Message) checkPad() error {
	pad, ok := m.members[keyPad]
	if !ok {
		return nil
	}
	b, ok := pad.bytes()
	if !ok || !pad.definite() {
		return BadInner.Errorf("the message's padding is no byte string")
	}
	if len(bytes.TrimLeft(b, "\x00")) != 0 {
		return BadPad.Errorf("the message's padding is not all zero")
	}
	return nil
}

// Extension is a member with a key from 64 on, encoded as it came. Extensions
// are covered by the signature.
func (m *Message) Extension(k uint64) ([]byte, bool) {
	i, ok := m.members[k]
	return i, ok && k >= firstExtension
}
