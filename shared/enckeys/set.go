// Package enckeys holds the keys others seal messages to: the set an agent
// publishes, which set is newer, which key to take, and the ring of private
// halves behind it (wire 2, section D).
//
// The one rule: a set counts only after Verify accepted it for the AID the
// caller already believes in. A hub can answer a look-up with its own perfectly
// valid set.
package enckeys

import (
	"bytes"
	"crypto/sha256"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/envelope"
)

// setType marks a set. A new member would come with another type.
const setType = "anet.enckeys/1"

// MaxBytes bounds a signed set: four keys of the largest suite stay well below.
const MaxBytes = 65_536

// Key is a published key. It may be used from NotBefore until before NotAfter.
type Key struct {
	KID       envelope.KID `cbor:"1,keyasint"`
	Suite     uint64       `cbor:"2,keyasint"`
	Pub       []byte       `cbor:"3,keyasint"`
	NotBefore uint64       `cbor:"4,keyasint"` // ms
	NotAfter  uint64       `cbor:"5,keyasint"` // ms
}

// Recipient is the key as a message is sealed to it.
func (k Key) Recipient() envelope.Key {
	return envelope.Key{KID: k.KID, Suite: k.Suite, Pub: k.Pub}
}

// NewKID names a key by its suite and public half.
func NewKID(suite uint8, pub []byte) envelope.KID {
	sum := sha256.Sum256(append(append([]byte("anet-enc-kid/v1"), suite), pub...))
	return envelope.KID(sum[:16])
}

// Set is what an agent publishes.
type Set struct {
	Type     string `cbor:"0,keyasint"`
	AID      string `cbor:"1,keyasint"`
	Seq      uint64 `cbor:"2,keyasint"`
	Keys     []Key  `cbor:"3,keyasint"`
	IssuedAt uint64 `cbor:"4,keyasint"` // ms
}

// Signed is a set as it travels. A parsed one is not verified.
type Signed struct {
	Set   Set
	Bytes []byte // of the set, exactly as signed
	KSN   uint64 // the signer's key state
	Sig   []byte
}

// signedForm is Signed on the wire.
type signedForm struct {
	Set []byte `cbor:"1,keyasint"`
	KSN uint64 `cbor:"2,keyasint"`
	Sig []byte `cbor:"3,keyasint"`
}

// small bounds the lists of a set: a stranger sends it.
var small = codec.NewDecoder(64)

// Parse reads a signed set and holds the set inside to its canonical form: two
// encodings of one set would be a fork under one sequence number.
func Parse(raw []byte) (Signed, error) {
	if len(raw) > MaxBytes {
		return Signed{}, envelope.BadKeySet.Errorf("the key set is larger than %d bytes", MaxBytes)
	}
	var f signedForm
	if err := small.Unmarshal(raw, &f); err != nil {
		return Signed{}, envelope.BadKeySet.Errorf("the key set cannot be read").Because(err)
	}
	s := Signed{Bytes: f.Set, KSN: f.KSN, Sig: f.Sig}
	if err := small.Unmarshal(f.Set, &s.Set); err != nil {
		return Signed{}, envelope.BadKeySet.Errorf("the key set cannot be read").Because(err)
	}
	again, err := codec.Marshal(s.Set)
	if err != nil || !bytes.Equal(again, f.Set) {
		return Signed{}, envelope.BadKeySet.Errorf("the key set is not in canonical form")
	}
	return s, nil
}

// Wire is the signed set for the wire.
func (s Signed) Wire() ([]byte, error) {
	return codec.Marshal(signedForm{Set: s.Bytes, KSN: s.KSN, Sig: s.Sig})
}
