package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/anet-hub/anet/shared/codec"
)

// Status is what became of a key state.
type Status string

// The statuses of key states.
const (
	Active      Status = "active"
	Rotated     Status = "rotated"
	Deactivated Status = "deactivated"
)

// KeyState is the key an event left current and when it was retired.
type KeyState struct {
	Key          ed25519.PublicKey
	Status       Status
	SupersededAt uint64 // ms; 0 when not retired, or retired at no stated time
}

// History is a key history whose every event was checked.
type History struct {
	aid       string
	raw       []byte
	sum       [sha256.Size]byte // of raw
	states    []KeyState
	digest    []byte // commitment of the last establishment event
	current   uint64 // its seq
	prev      string // id of the last event
	ended     bool   // the last event is a dip
	delegated int    // device keys handed out; they never verify objects
}

// AID is the agent the history belongs to.
func (h *History) AID() string { return h.aid }

// Raw is the history as received.
func (h *History) Raw() []byte { return h.raw }

// Sum is the SHA-256 of the history as received: it tells one from a later one.
func (h *History) Sum() [sha256.Size]byte { return h.sum }

// Len counts the events.
func (h *History) Len() int { return len(h.states) }

// State is the key state after event seq.
func (h *History) State(seq uint64) (KeyState, bool) {
	if seq >= uint64(len(h.states)) {
		return KeyState{}, false
	}
	return h.states[seq], true
}

// Deactivated reports whether the agent has ended its own history.
func (h *History) Deactivated() bool { return h.ended }

// DelegatedKeys counts the device keys the agent delegated.
func (h *History) DelegatedKeys() int { return h.delegated }

// CurrentFrom is the first seq of the current states: from the last
// establishment event to the end (section H.4). A deactivated agent has none.
func (h *History) CurrentFrom() (first uint64, ok bool) { return h.current, !h.ended }

// Replay checks a key history from its first event on and fails at the first
// violation of section A.3.
func Replay(kel []byte) (*History, error) {
	events, err := split(kel)
	if err != nil {
		return nil, err
	}
	h := &History{raw: bytes.Clone(kel), sum: sha256.Sum256(kel), states: make([]KeyState, 0, len(events))}
	for i, raw := range events {
		signed, preimage, err := parseEvent(raw)
		if err == nil {
			err = h.append(&signed, preimage)
		}
		if err != nil {
			return nil, fmt.Errorf("key event %d: %w", i, err)
		}
	}
	return h, nil
}

func (h *History) append(s *signedEvent, preimage []byte) error {
	var key ed25519.PublicKey
	var err error
	if len(h.states) == 0 {
		key, err = h.begin(s, preimage)
	} else {
		key, err = h.follow(s, preimage)
	}
	if err != nil {
		return err
	}
	h.record(&s.Event, key)
	h.prev = codec.CID(preimage)
	return nil
}

// record takes in an event that was checked.
func (h *History) record(e *event, key ed25519.PublicKey) {
	status := Active
	switch e.Type {
	case rotation:
		h.retire(e.Timestamp)
	case deactivate:
		h.retire(e.Timestamp)
		h.ended, status = true, Deactivated
	case delegate:
		h.delegated++
	}
	if e.establishes() {
		h.digest, h.current = e.NextDigest, e.Seq
	}
	h.states = append(h.states, KeyState{Key: key, Status: status})
}

// retire ends every state that is still active, those that interactions and
// delegations left among them.
func (h *History) retire(at uint64) {
	for i := len(h.states) - 1; i >= 0 && h.states[i].Status == Active; i-- {
		h.states[i].Status, h.states[i].SupersededAt = Rotated, at
	}
}

func (h *History) begin(s *signedEvent, preimage []byte) (ed25519.PublicKey, error) {
	e := &s.Event
	if e.Type != inception || e.Seq != 0 || e.Prev != "" {
		return nil, errors.New("a history begins with icp, seq 0, no predecessor")
	}
	key, err := e.key()
	if err != nil {
		return nil, err
	}
	if h.aid, err = e.makes(); err != nil {
		return nil, err
	}
	if e.AID != "" && e.AID != h.aid {
		return nil, errors.New("the inception names another agent than it makes")
	}
	return key, check(key, preimage, s.Sig)
}

func (h *History) follow(s *signedEvent, preimage []byte) (ed25519.PublicKey, error) {
	e := &s.Event
	before := h.states[len(h.states)-1].Key
	switch {
	case h.ended:
		return nil, errors.New("an event after the deactivation")
	case e.AID != h.aid:
		return nil, errors.New("the event names another agent")
	case e.Seq != uint64(len(h.states)):
		return nil, fmt.Errorf("seq %d is out of order", e.Seq)
	case e.Prev != h.prev:
		return nil, errors.New("the event does not follow the one before")
	}
	after, err := h.keyAfter(e, before)
	if err != nil {
		return nil, err
	}
	return after, check(before, preimage, s.Sig)
}

// keyAfter is the key that is current once e happened.
func (h *History) keyAfter(e *event, before ed25519.PublicKey) (ed25519.PublicKey, error) {
	switch e.Type {
	case rotation:
		return h.rotated(e)
	case interact, deactivate:
		return before, nil
	case delegate:
		if len(e.Keys) != 1 {
			return nil, errors.New("drt delegates exactly one key")
		}
		return before, nil
	default:
		return nil, fmt.Errorf("unknown type %.16q", e.Type)
	}
}

// rotated holds a rotation to the digest of the last establishment event. A
// digest in an ixn or drt counts for nothing: whoever stole the current key
// could sign one and rotate to a key of his own.
func (h *History) rotated(e *event) (ed25519.PublicKey, error) {
	key, err := e.key()
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(key); !bytes.Equal(sum[:], h.digest) {
		return nil, errors.New("the new key is not the one committed to")
	}
	return key, nil
}

func check(key ed25519.PublicKey, preimage, sig []byte) error {
	if !verifies(key, preimage, sig) {
		return errors.New("the signature does not verify")
	}
	return nil
}

// verifies tolerates keys and signatures of any length.
func verifies(key ed25519.PublicKey, preimage, sig []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, preimage, sig)
}
