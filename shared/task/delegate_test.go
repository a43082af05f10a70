package task

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

var made = time.UnixMilli(1_767_225_600_000)

func agent(t *testing.T) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, made)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ms(t time.Time) uint64 { return uint64(t.UnixMilli()) }

func TestDelegateIsBoundToItsMessage(t *testing.T) {
	alice, mallory := agent(t), agent(t)
	rotated, err := alice.Rotate(rand.Reader, made.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	ix := NewID()
	good, err := NewDelegate(alice, ix, NewText("say hello"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		edit func(*DelegateReq, *Sender)
		ok   bool
	}{
		{"as made", func(*DelegateReq, *Sender) {}, true},
		{"with the history", func(d *DelegateReq, _ *Sender) { d.KEL = alice.KEL() }, true},
		{"with the beginning of a longer history", func(d *DelegateReq, s *Sender) { d.KEL, s.History = alice.KEL(), rotated.History() }, true},
		{"with more history than known", func(d *DelegateReq, _ *Sender) { d.KEL = rotated.KEL() }, false},
		{"with somebody else's history", func(d *DelegateReq, _ *Sender) { d.KEL = mallory.KEL() }, false},
		{"with a broken history", func(d *DelegateReq, _ *Sender) { d.KEL = []byte{1} }, false},
		{"for another task", func(d *DelegateReq, _ *Sender) { d.InteractionID = NewID() }, false},
		{"for no task", func(d *DelegateReq, s *Sender) { d.InteractionID, s.Ix = "", "" }, false},
		{"from somebody else", func(_ *DelegateReq, s *Sender) { s.AID, s.History = mallory.AID(), mallory.History() }, false},
		{"in a conversation", func(d *DelegateReq, _ *Sender) { d.ContextID = "ctx_1" }, true},
		{"in a conversation of an endless name", func(d *DelegateReq, _ *Sender) { d.ContextID = strings.Repeat("x", 257) }, false},
		{"unsigned", func(d *DelegateReq, _ *Sender) { d.Envelope = nil }, false},
		{"by another algorithm", func(d *DelegateReq, _ *Sender) { e := *d.Envelope; e.Alg = -7; d.Envelope = &e }, false},
		{"with the signature of another document", func(d *DelegateReq, _ *Sender) {
			other, _ := NewDelegate(alice, ix, NewText("say goodbye"))
			d.Envelope = other.Envelope
		}, false},
		{"dated after the key retired", func(_ *DelegateReq, s *Sender) { s.History, s.TS = rotated.History(), ms(made.Add(2*time.Hour)) }, false},
		{"dated before the key retired", func(_ *DelegateReq, s *Sender) { s.History, s.TS = rotated.History(), ms(made) }, true},
		{"no history known", func(_ *DelegateReq, s *Sender) { s.History = nil }, false},
	} {
		d, s := good, Sender{AID: alice.AID(), Ix: ix, TS: ms(made.Add(time.Minute)), History: alice.History()}
		tt.edit(&d, &s)
		doc, err := d.Verify(s)
		if (err == nil) != tt.ok {
			t.Errorf("%s: Verify = %v, want accepted %v", tt.name, err, tt.ok)
		}
		if err == nil && doc.Goal() != "say hello" {
			t.Errorf("%s: goal = %q", tt.name, doc.Goal())
		}
	}
}

// Checklist 28: unknown members of a body are ignored, null reads as empty.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"a text", "\xa1\x01\x64text", true},
		{"members nobody knows", "\xa3\x01\x64text\x08\x01\x18\x63\xa0", true},
		{"null members", "\xa4\x01\x64text\x02\xf6\x03\xf6\x0a\xf6", true},
		{"null for an attachment", "\xa2\x01\x64text\x03\x81\xf6", true},
		{"empty", "\xa0", true},
		{"null", "\xf6", false},
		{"a list", "\x80", false},
		{"nothing", "", false},
		{"a number for the kind", "\xa1\x01\x01", false},
		{"a member twice", "\xa2\x01\x64text\x01\x64text", false},
		{"a tag", "\xa1\x01\xc0\x64text", false},
		{"bytes behind", "\xa0\x00", false},
	} {
		if _, err := Parse[ChatMsg]([]byte(tt.in)); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want accepted %v", tt.name, err, tt.ok)
		}
	}
}

func TestIDs(t *testing.T) {
	if id := NewID(); len(id) != 35 || id[:3] != "ix_" || !ValidID(id) {
		t.Errorf("minted %q, want ix_ and 32 hex digits", id)
	}
	for _, tt := range []struct {
		id string
		ok bool
	}{
		{"ix-golden-1", true},
		{"x", true},
		{"", false},
		{string(make([]byte, 256)), true},
		{string(make([]byte, 257)), false},
		{"\xff", false},
	} {
		if ValidID(tt.id) != tt.ok {
			t.Errorf("ValidID(%.20q) = %v, want %v", tt.id, !tt.ok, tt.ok)
		}
	}
}
