package identity

import (
	"errors"
	"fmt"

	"github.com/anet-hub/anet/shared/codec"
)

// algEdDSA is the COSE number of the only algorithm there is.
const algEdDSA = -8

// Envelope is the detached signature of section B.1.
type Envelope struct {
	Signer string `cbor:"1,keyasint"`
	Seq    uint64 `cbor:"2,keyasint"`
	Alg    int64  `cbor:"3,keyasint"`
	Sig    []byte `cbor:"4,keyasint"`
	Ref    string `cbor:"5,keyasint,omitempty"`
}

// SignDetached signs a preimage that travels apart from its signature.
func SignDetached(c *Controller, preimage []byte) Envelope {
	return Envelope{Signer: c.AID(), Seq: c.Seq(), Alg: algEdDSA, Sig: c.Sign(preimage)}
}

// Verify checks the signature over a preimage that came apart from it.
func (e Envelope) Verify(h *History, preimage []byte, msgTime uint64) error {
	if err := e.checkAlg(); err != nil {
		return err
	}
	return VerifyObject(h, e.Signer, e.Seq, msgTime, preimage, e.Sig)
}

func (e Envelope) checkAlg() error {
	if e.Alg != algEdDSA {
		return fmt.Errorf("signed object: algorithm %d, want %d", e.Alg, algEdDSA)
	}
	return nil
}

// Signed is a signed object: a body in canonical form and who signed it. A
// parsed one is not verified yet.
type Signed struct {
	Body codec.RawMessage `cbor:"1,keyasint"`
	Env  Envelope         `cbor:"2,keyasint"`
}

// SignObject signs body and returns the object as it travels and its id.
func SignObject(c *Controller, body any) (wire []byte, id string, err error) {
	preimage, err := codec.Marshal(body)
	if err != nil {
		return nil, "", err
	}
	s := Signed{preimage, SignDetached(c, preimage)}
	wire, err = codec.Marshal(s)
	return wire, s.ID(), err
}

// ParseSignedAs reads a signed object into body, a pointer to its shape. The
// preimage is what that shape encodes to.
func ParseSignedAs(wire []byte, body any) (Signed, error) {
	s, err := parseSigned(wire)
	if err != nil {
		return Signed{}, err
	}
	if err := codec.Unmarshal(s.Body, body); err != nil {
		return Signed{}, fmt.Errorf("signed object: %w", err)
	}
	s.Body, err = codec.Marshal(body)
	return s, err
}

func parseSigned(wire []byte) (s Signed, err error) {
	if err := codec.Unmarshal(wire, &s); err != nil {
		return s, fmt.Errorf("signed object: %w", err)
	}
	if len(s.Body) == 0 || s.Body[0]>>5 != 5 {
		return s, errors.New("signed object: the body is no map")
	}
	return s, s.Env.checkAlg()
}

// Preimage is what was signed.
func (s Signed) Preimage() []byte { return s.Body }

// ID is the content id of the preimage.
func (s Signed) ID() string { return codec.CID(s.Body) }

// Verify checks the signature at the time the kind of object names for it.
func (s Signed) Verify(h *History, msgTime uint64) error {
	return s.Env.Verify(h, s.Body, msgTime)
}
