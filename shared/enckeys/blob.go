package enckeys

import (
	"fmt"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/envelope"
)

// ringForm is a ring at rest.
type ringForm struct {
	Keys []heldForm `cbor:"1,keyasint"`
	Last []byte     `cbor:"2,keyasint,omitempty"`
}

type heldForm struct {
	Private   []byte `cbor:"1,keyasint"`
	NotBefore uint64 `cbor:"2,keyasint"`
	NotAfter  uint64 `cbor:"3,keyasint"`
}

// Blob is the ring to be stored, private halves included.
func (r Ring) Blob() ([]byte, error) {
	var f ringForm
	for _, k := range r.keys {
		b, err := k.private.Bytes()
		if err != nil {
			return nil, err
		}
		f.Keys = append(f.Keys, heldForm{b, k.NotBefore, k.NotAfter})
	}
	if r.last != nil {
		wire, err := r.last.Wire()
		if err != nil {
			return nil, err
		}
		f.Last = wire
	}
	return codec.Marshal(f)
}

// LoadRing reads a stored ring.
func LoadRing(blob []byte) (Ring, error) {
	var f ringForm
	var r Ring
	if err := codec.Unmarshal(blob, &f); err != nil {
		return Ring{}, fmt.Errorf("load the encryption keys: %w", err)
	}
	for _, k := range f.Keys {
		private, err := envelope.KEM().NewPrivateKey(k.Private)
		if err != nil {
			return Ring{}, fmt.Errorf("load the encryption keys: %w", err)
		}
		r.keys = append(r.keys, hold(private, k.NotBefore, k.NotAfter))
	}
	if len(f.Last) > 0 {
		last, err := Parse(f.Last)
		if err != nil {
			return Ring{}, fmt.Errorf("load the encryption keys: %w", err)
		}
		r.last = &last
	}
	return r, nil
}
