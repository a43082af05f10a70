package card

import (
	"strconv"
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

func (s Stamp) params(aid string) []byte {
	return mustJSON(identityParams{
		AID:       aid,
		Seq:       strconv.FormatInt(s.Seq, 10),
		IssuedAt:  strconv.FormatInt(s.IssuedAt, 10),
		NotBefore: strconv.FormatInt(s.NotBefore, 10),
	})
}

// Sign signs a card under the current key of c. It refuses what is not in
// publish form, and what a verifier would not take for a card of c. An empty
// jku is left out.
func Sign(c *identity.Controller, raw []byte, jku string) ([]byte, error) {
	tree, _, err := parse(raw)
	if err != nil {
		return nil, err
	}
	delete(tree, "signatures")
	if err := publishForm(tree); err != nil {
		return nil, err
	}
	payload, err := stripped(tree)
	if err != nil {
		return nil, err
	}
	h := header{Alg: "EdDSA", JKU: jku, KID: keyID{c.AID(), c.Seq()}.String(), Typ: "JOSE"}
	entry, err := sign(payload, h, c.Sign)
	if err != nil {
		return nil, err
	}
	tree["signatures"] = []any{entry}
	return signed(c.AID(), tree)
}

func signed(aid string, tree map[string]any) ([]byte, error) {
	out, err := canonical(tree)
	if err != nil {
		return nil, err
	}
	s, err := Read(out)
	if err == nil && s.AID != aid {
		err = Refuse(BindingMismatch, "the card is one of %s, not of the signer", s.AID)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Publish gives the signed card of p: last itself while it says the same under
// the same key, else a new one with a newer stamp. last is nil at first.
func Publish(c *identity.Controller, p Profile, last []byte, now time.Time) ([]byte, error) {
	var seq int64
	if last != nil {
		old, err := Read(last)
		if err != nil {
			return nil, err
		}
		if old.signedBy(c) && old.says(p) {
			return last, nil
		}
		seq = old.Seq
	}
	stamp, err := NextStamp(seq, now)
	if err != nil {
		return nil, err
	}
	unsigned, err := p.Build(stamp)
	if err != nil {
		return nil, err
	}
	return Sign(c, unsigned, JWKSURL(p.HubURL, p.AID))
}

// signedBy reports whether the first signature names the current key of c.
func (s *Statement) signedBy(c *identity.Controller) bool {
	sig, err := newSignature(s.signatures[0])
	if err != nil {
		return false
	}
	kid, err := sig.key()
	return err == nil && kid == keyID{c.AID(), c.Seq()}
}

// says reports whether p would make the same statement again.
func (s *Statement) says(p Profile) bool {
	again, err := p.Build(s.Stamp)
	return err == nil && string(again) == string(s.Payload)
}
