package envelope

import (
	"crypto/hpke"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// Draft is a message to be sealed. The sender's name, key state and history
// come from who signs it.
type Draft struct {
	To         string
	Type       string
	Ix         string
	MID        MID
	TS         uint64 // ms
	Exp        uint64 // ms
	Body       []byte
	Keys       []byte            // the sender's signed key set
	Extensions map[uint64][]byte // encoded, from key 64 on
}

// Key is the recipient's published key.
type Key struct {
	KID   KID
	Suite uint64
	Pub   []byte
}

// Signer speaks for an agent: an identity.Controller does.
type Signer interface {
	AID() string
	Seq() uint64
	KEL() []byte
	Sign(preimage []byte) []byte
}

// Seal signs, pads and seals a draft: once. Store the bytes and send them as
// often as it takes.
func Seal(s Signer, d Draft, to Key) ([]byte, error) {
	if err := d.check(s); err != nil {
		return nil, err
	}
	o := Outer{To: d.To, Suite: to.Suite, KID: to.KID}
	enc, sender, err := o.sender(to)
	if err != nil {
		return nil, err
	}
	o.Enc = enc
	o.CT, err = sender.Seal(nil, d.members(s).signed(s, o).padded().encode())
	if err != nil {
		return nil, InternalError.Errorf("the message cannot be sealed").Because(err)
	}
	if wire := o.Bytes(); len(wire) <= MaxBytes {
		return wire, nil
	}
	return nil, InvalidInput.Errorf("the sealed message would be larger than %d bytes", MaxBytes)
}

// sender begins a seal. The encapsulated key is part of what is signed, so it
// has to exist before there is anything to seal. A key that nothing can be
// agreed with is the recipient's doing, and like having none: it must not pass
// for a fault of the message, which its sender would try to mend.
func (o Outer) sender(to Key) ([]byte, *hpke.Sender, error) {
	if to.Suite != SuiteX25519 {
		return nil, nil, UnknownSuite.Errorf("there is no suite %d to seal in", to.Suite)
	}
	pub, err := KEM().NewPublicKey(to.Pub)
	if err != nil {
		return nil, nil, NoUsableKey.Errorf("the recipient's key is no key of its suite").Because(err)
	}
	enc, sender, err := hpke.NewSender(pub, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), o.info())
	if err != nil {
		return nil, nil, NoUsableKey.Errorf("the recipient's key cannot be sealed to").Because(err)
	}
	return enc, sender, nil
}

// check holds the sender's side of section E.4.
func (d Draft) check(s Signer) error {
	switch {
	case s.AID() == "" || d.To == "" || d.Type == "":
		return InvalidInput.Errorf("a message needs a sender, a recipient and a type")
	case !utf8.ValidString(d.To) || !utf8.ValidString(d.Type) || !utf8.ValidString(d.Ix):
		return InvalidInput.Errorf("a message's recipient, type and task have to be UTF-8")
	case d.MID == MID{}:
		return InvalidInput.Errorf("a message needs a fresh id")
	case d.TS == 0 || d.Exp < d.TS || d.Exp-d.TS > uint64(MaxLifetime.Milliseconds()):
		return InvalidInput.Errorf("a message cannot live from %d to %d", d.TS, d.Exp)
	case len(d.Keys) == 0:
		return InvalidInput.Errorf("a message needs its sender's key set")
	case len(s.KEL()) > identity.MaxKELBytes:
		return KELTooLarge.Errorf("the key history is larger than %d bytes", identity.MaxKELBytes)
	case len(d.Body) > MaxBytes:
		return InvalidInput.Errorf("the body is larger than %d bytes", MaxBytes)
	}
	return d.checkExtensions()
}

func (d Draft) checkExtensions() error {
	for k, v := range d.Extensions {
		if k < firstExtension {
			return InvalidInput.Errorf("%d is no key of an extension", k)
		}
		if _, err := codec.Canonical(v); err != nil {
			return InvalidInput.Errorf("the extension %d is not one CBOR item", k).Because(err)
		}
	}
	return nil
}

func (d Draft) members(s Signer) members {
	m := members{
		keyFrom: textItem(s.AID()), keyKSN: uintItem(s.Seq()), keyTo: textItem(d.To),
		keyType: textItem(d.Type), keyIx: textItem(d.Ix), keyMID: bytesItem(d.MID[:]),
		keyTS: uintItem(d.TS), keyExp: uintItem(d.Exp), keyBody: bytesItem(d.Body),
		keyKEL: bytesItem(s.KEL()), keyKeys: bytesItem(d.Keys),
	}
	for k, v := range d.Extensions {
		m[k] = v
	}
	return m
}

func (m members) signed(s Signer, o Outer) members {
	m[keySig] = bytesItem(s.Sign(m.preimage(o)))
	return m
}

// padded adds the padding that brings the whole map to a Padmé length.
func (m members) padded() members {
	m[keyPad] = bytesItem(nil)
	m[keyPad] = bytesItem(make([]byte, padFor(m.size())))
	return m
}
