package envelope

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/hex"
)

// Version of the envelope this program speaks.
const Version = 1

// MaxBytes is the largest envelope of the network's own hubs (section E.3). A
// hub may take less: compare before sending.
const MaxBytes = 96 << 20

// SuiteX25519 is the only suite in use: HPKE in base mode with
// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305. The suite of
// ML-KEM and X25519 is reserved; an envelope that names it is refused.
const SuiteX25519 = 1

// encLen is the length of the encapsulated key in that suite.
const encLen = 32

// KID names the recipient's key.
type KID [16]byte

func (k KID) String() string { return hex.EncodeToString(k[:]) }

// Outer is what a hub sees of a sealed message.
type Outer struct {
	To    string
	Suite uint64
	KID   KID
	Enc   []byte
	CT    []byte
}

// ParseOuter reads an envelope in the order of section E.2; the first failure
// names the reason. The byte strings refer into wire.
func ParseOuter(wire []byte) (Outer, error) {
	if len(wire) > MaxBytes {
		return Outer{}, BadOuter.Errorf("the envelope is larger than %d bytes", MaxBytes)
	}
	m, ok := parseMembers(wire)
	if !ok {
		return Outer{}, BadOuter.Errorf("the envelope is not one CBOR map with integer keys")
	}
	if v, ok := m[1].uint(); !ok || v != Version {
		return Outer{}, BadVersion.Errorf("the envelope is not of version %d", Version)
	}
	if k, found := m.unknown(1, 2, 3, 4, 5, 6); found {
		return Outer{}, UnknownCriticalField.Errorf("the envelope has the member %d, which has to be understood", k)
	}
	return m.outer()
}

func (m members) outer() (o Outer, err error) {
	to, ok := m[2].text()
	if !ok || to == "" {
		return o, BadOuter.Errorf("the envelope names no recipient")
	}
	if suite, ok := m[3].uint(); !ok || suite != SuiteX25519 {
		return o, UnknownSuite.Errorf("the envelope is sealed in a suite this program does not know")
	}
	kid, ok := m[4].bytes()
	if !ok || len(kid) != len(KID{}) {
		return o, BadOuter.Errorf("the envelope's key id is not %d bytes", len(KID{}))
	}
	enc, ok := m[5].bytes()
	if !ok || len(enc) != encLen {
		return o, BadOuter.Errorf("the envelope's encapsulated key is not %d bytes", encLen)
	}
	ct, ok := m[6].bytes()
	if !ok || len(ct) == 0 {
		return o, BadOuter.Errorf("the envelope holds no ciphertext")
	}
	return Outer{to, SuiteX25519, KID(kid), enc, ct}, nil
}

// CheckTo compares the recipient with who the envelope was handed over for.
func (o Outer) CheckTo(aid string) error {
	if o.To != aid {
		return WrongRecipient.Errorf("the envelope is for %.80q", o.To)
	}
	return nil
}

// Bytes is the envelope for the wire.
func (o Outer) Bytes() []byte {
	return members{
		1: uintItem(Version), 2: textItem(o.To), 3: uintItem(o.Suite),
		4: bytesItem(o.KID[:]), 5: bytesItem(o.Enc), 6: bytesItem(o.CT),
	}.encode()
}

// info binds the ciphertext to whom it is for.
func (o Outer) info() []byte {
	return members{
		1: textItem("anet-relay/v1"), 2: textItem(o.To), 3: uintItem(o.Suite), 4: bytesItem(o.KID[:]),
	}.encode()
}

// decrypt opens the ciphertext. The additional data of the seal is empty.
func (o Outer) decrypt(k hpke.PrivateKey) ([]byte, error) {
	r, err := hpke.NewRecipient(o.Enc, k, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), o.info())
	if err != nil {
		return nil, DecryptFailed.Errorf("the envelope's key cannot be agreed on").Because(err)
	}
	plain, err := r.Open(nil, o.CT)
	if err != nil {
		return nil, DecryptFailed.Errorf("the envelope does not open").Because(err)
	}
	return plain, nil
}

// KEM is the key encapsulation of the suite, for who makes its keys.
func KEM() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }
