package identity

import "crypto/ed25519"

// VerifyObject checks a signature against the history of its signer, in the
// order of section A.4: a bad signature is reported before any revocation. A
// nil history is an agent nobody knows.
func VerifyObject(h *History, signer string, seq, msgTime uint64, preimage, sig []byte) error {
	state, err := h.stateOf(signer, seq)
	if err != nil {
		return err
	}
	if !verifies(state.Key, preimage, sig) {
		return refuse(InvalidSignature, "the signature does not verify under key state %d", seq)
	}
	return state.standing(seq, msgTime)
}

// VerifyCarried is VerifyObject for a history that nobody replayed yet, as a
// stranger may have sent it. The signature is checked once, against the key
// the history names, and replay is asked only when it holds (section A.7).
func VerifyCarried(kel []byte, replay func([]byte) (*History, error),
	signer string, seq, msgTime uint64, preimage, sig []byte) error {
	key, err := namedKey(kel, seq)
	if err != nil || !verifies(key, preimage, sig) {
		return refuse(InvalidSignature, "the signature is not by the key its history names for state %d", seq)
	}
	h, err := replay(kel)
	if err != nil {
		return refuse(UnknownAID, "the key history does not replay: %v", err)
	}
	state, err := h.stateOf(signer, seq)
	if err != nil {
		return err
	}
	if !state.Key.Equal(key) {
		return refuse(InvalidSignature, "the history was replayed from other bytes")
	}
	return state.standing(seq, msgTime)
}

func (h *History) stateOf(signer string, seq uint64) (KeyState, error) {
	if h == nil || h.aid != signer {
		return KeyState{}, refuse(UnknownAID, "no key history of %.64q", signer)
	}
	state, ok := h.State(seq)
	if !ok {
		return KeyState{}, refuse(KeyStateDowngrade, "key state %d, the history ends at %d", seq, h.Len()-1)
	}
	return state, nil
}

func (s KeyState) standing(seq, msgTime uint64) error {
	if s.revokedAt(msgTime) {
		return refuse(RevokedKey, "key state %d is %s", seq, s.Status)
	}
	return nil
}

// revokedAt reports whether the state no longer signs at msgTime. Without a
// time only a deactivated agent is refused; with one, what was signed strictly
// before the key retired stays valid.
func (s KeyState) revokedAt(msgTime uint64) bool {
	if msgTime == 0 {
		return s.Status == Deactivated
	}
	return s.Status != Active && (s.SupersededAt == 0 || msgTime >= s.SupersededAt)
}

// Plausible checks one signature against the key the history itself names for
// seq, without replaying it (section A.7). It proves nothing; it makes a
// stranger's bad signature cost one verification instead of one per event.
func Plausible(kel []byte, seq uint64, preimage, sig []byte) bool {
	key, err := namedKey(kel, seq)
	return err == nil && verifies(key, preimage, sig)
}

// namedKey is the key of the last establishment event up to seq.
func namedKey(kel []byte, seq uint64) (ed25519.PublicKey, error) {
	events, err := split(kel)
	if err != nil {
		return nil, err
	}
	if seq >= uint64(len(events)) {
		return nil, refuse(KeyStateDowngrade, "key state %d of %d", seq, len(events))
	}
	for i := int(seq); i >= 0; i-- {
		var s signedEvent
		if err := kelDecoder.Unmarshal(events[i], &s); err != nil {
			return nil, err
		}
		if s.Event.establishes() {
			return s.Event.key()
		}
	}
	return nil, refuse(UnknownAID, "no establishment event up to %d", seq)
}
