package envelope

import (
	"fmt"
	"testing"

	"github.com/anet-hub/anet/shared/identity"
)

// sealed is a message sealed by hand, so that it can be wrong.
type sealed struct {
	alice  *identity.Controller
	bob    oneKey
	draft  Draft
	inner  func(members) // before signing
	signed func(members) // after signing
	as     func(*Outer)  // what the signature is bound to
}

func (s sealed) open(t *testing.T) (*Message, error) {
	t.Helper()
	o := Outer{To: s.draft.To, Suite: SuiteX25519, KID: s.bob.kid}
	enc, sender, err := o.sender(s.bob.key())
	if err != nil {
		t.Fatal(err)
	}
	o.Enc = enc
	m, bound := s.draft.members(s.alice), o
	for _, edit := range []func(members){s.inner, func(m members) {
		if s.as != nil {
			s.as(&bound)
		}
		m.signed(s.alice, bound).padded()
	}, s.signed} {
		if edit != nil {
			edit(m)
		}
	}
	if o.CT, err = sender.Seal(nil, m.encode()); err != nil {
		t.Fatal(err)
	}
	return Open(o.Bytes(), s.draft.To, s.bob)
}

// Checklist 19 and 21: required members and their types, reserved keys, zero
// padding.
func TestInnerIsRefused(t *testing.T) {
	alice, bob := agent(t), newKey(t)
	set := func(k uint64, v item) func(members) { return func(m members) { m[k] = v } }
	type row struct {
		name string
		edit func(members)
		want Reason
	}
	rows := []row{
		{"as made", nil, ""},
		{"no padding", func(m members) { delete(m, keyPad) }, ""},
		{"more padding than needed", set(keyPad, bytesItem(make([]byte, 1001))), ""},
		{"an empty task id", set(keyIx, textItem("")), ""},
		{"padding with a bit in it", set(keyPad, bytesItem(append(make([]byte, 99), 1))), BadPad},
		{"padding of text", set(keyPad, textItem("")), BadInner},
		{"null padding", set(keyPad, item{0xf6}), BadInner},
		{"a short id", set(keyMID, bytesItem(make([]byte, 15))), BadInner},
		{"a long signature", set(keySig, bytesItem(make([]byte, 65))), BadInner},
		{"a negative time", set(keyTS, item{0x20}), BadInner},
		{"a time with a fraction", set(keyTS, item{0xf9, 0x3e, 0}), BadInner},
		{"a body in chunks", set(keyBody, item{0x5f, 0x41, 1, 0xff}), BadInner},
		{"for another recipient", set(keyTo, textItem("carol")), ToMismatch},
		{"a history of too many bytes", set(keyKEL, bytesItem(make([]byte, identity.MaxKELBytes+1))), KELTooLarge},
		{"a history of too many events", set(keyKEL, bytesItem(append([]byte{0x99, 1, 1}, make([]byte, 257)...))), KELTooLarge},
		{"the wrong recipient before the history", func(m members) {
			m[keyTo], m[keyKEL] = textItem("carol"), bytesItem(make([]byte, identity.MaxKELBytes+1))
		}, ToMismatch},
	}
	for _, k := range []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 20} {
		rows = append(rows,
			row{fmt.Sprintf("without %d", k), func(m members) { delete(m, k) }, BadInner},
			row{fmt.Sprintf("null for %d", k), set(k, item{0xf6}), BadInner},
			row{fmt.Sprintf("a list for %d", k), set(k, item{0x80}), BadInner})
	}
	for _, k := range []uint64{0, 11, 13, 19, 22, 30, 31, 32, 63} {
		rows = append(rows, row{fmt.Sprintf("the reserved member %d", k), set(k, item{0xf5}), UnknownCriticalField})
	}
	for _, tt := range rows {
		_, err := sealed{alice: alice, bob: bob, draft: draft("bob"), signed: tt.edit}.open(t)
		if ReasonOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for name, plain := range map[string]string{
		"a text key": "\xa1\x61a\x01", "a negative key": "\xa1\x20\x01", "null": "\xf6", "nothing": "", "a key twice": "\xa2\x01\x60\x01\x60",
	} {
		if _, err := parseInner([]byte(plain), Outer{}); ReasonOf(err) != BadInner {
			t.Errorf("%s: %v, want %s", name, err, BadInner)
		}
	}
}
