package identity

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/anet-hub/anet/shared/codec"
)

// The types of key events.
const (
	inception  = "icp"
	rotation   = "rot"
	interact   = "ixn"
	delegate   = "drt"
	deactivate = "dip"
)

// event is a KeyEvent of section A.3. What is signed is its encoding, so
// members nobody knows are not part of the preimage.
type event struct {
	AID        string   `cbor:"1,keyasint,omitempty"`
	Seq        uint64   `cbor:"2,keyasint"`
	Prev       string   `cbor:"3,keyasint,omitempty"`
	Type       string   `cbor:"4,keyasint"`
	Keys       [][]byte `cbor:"5,keyasint"`
	NextDigest []byte   `cbor:"6,keyasint,omitempty"`
	Threshold  uint64   `cbor:"7,keyasint"`
	Timestamp  uint64   `cbor:"8,keyasint,omitempty"`
}

// signedEvent carries an event id that nobody trusts: it is computed again.
type signedEvent struct {
	Event event  `cbor:"1,keyasint"`
	Sig   []byte `cbor:"2,keyasint"`
	ID    string `cbor:"3,keyasint"`
}

// establishes reports whether the event says which key is current.
func (e *event) establishes() bool { return e.Type == inception || e.Type == rotation }

func (e *event) preimage() ([]byte, error) { return codec.Marshal(e) }

// kelDecoder allows no list longer than a history may be.
var kelDecoder = codec.NewDecoder(MaxEvents)

// split cuts a history into its events without decoding them: one event at a
// time is decoded later, so a hostile history costs a few times its size.
func split(kel []byte) ([]codec.RawMessage, error) {
	if len(kel) > MaxKELBytes {
		return nil, fmt.Errorf("key history of %d bytes, at most %d", len(kel), MaxKELBytes)
	}
	var events []codec.RawMessage
	if err := kelDecoder.Unmarshal(kel, &events); err != nil {
		return nil, fmt.Errorf("key history: %w", err)
	}
	if len(events) == 0 {
		return nil, errors.New("key history without events")
	}
	return events, nil
}

func parseEvent(raw []byte) (signed signedEvent, preimage []byte, err error) {
	if err := kelDecoder.Unmarshal(raw, &signed); err != nil {
		return signed, nil, err
	}
	preimage, err = signed.Event.preimage()
	return signed, preimage, err
}

// key is the single key of an establishment event.
func (e *event) key() (ed25519.PublicKey, error) {
	if len(e.Keys) != 1 || len(e.Keys[0]) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%s needs exactly one key of %d bytes", e.Type, ed25519.PublicKeySize)
	}
	return e.Keys[0], nil
}
