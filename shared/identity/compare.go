package identity

import (
	"bytes"

	"github.com/anet-hub/anet/shared/codec"
)

// Relation is how one key history stands to another.
type Relation int

// The outcomes of section A.5. A stored history is replaced by Extends only.
const (
	Forked  Relation = iota // they disagree on an event
	Equal                   // the same events
	Extends                 // the second is the beginning of the first
	Shorter                 // the first is the beginning of the second: a rollback
)

func (r Relation) String() string {
	return [...]string{"forked", "equal", "extends", "shorter"}[r]
}

// Compare says how history a relates to b, by the preimages of their events:
// signatures and stored event ids do not count. It replays neither.
func Compare(a, b []byte) (Relation, error) {
	if bytes.Equal(a, b) {
		_, err := split(a)
		return Equal, err
	}
	left, err := split(a)
	if err != nil {
		return Forked, err
	}
	right, err := split(b)
	if err != nil {
		return Forked, err
	}
	for i := range min(len(left), len(right)) {
		same, err := sameEvent(left[i], right[i])
		if err != nil || !same {
			return Forked, err
		}
	}
	return byLength(len(left), len(right)), nil
}

func sameEvent(a, b codec.RawMessage) (bool, error) {
	_, left, err := parseEvent(a)
	if err != nil {
		return false, err
	}
	_, right, err := parseEvent(b)
	return bytes.Equal(left, right), err
}

func byLength(a, b int) Relation {
	switch {
	case a > b:
		return Extends
	case a < b:
		return Shorter
	default:
		return Equal
	}
}
