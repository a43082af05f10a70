package card

import "crypto/sha256"

// Mark is the newest statement seen of one AID (and of one variant of its card).
// It outlives the card: a withdrawn card must not come back in an older state.
type Mark struct {
	Seq  int64
	Hash [sha256.Size]byte
}

// Mark is the mark that s would leave.
func (s *Statement) Mark() Mark { return Mark{s.Seq, s.PayloadHash} }

// Step is what a verified card does to the mark.
type Step int

// The steps. On Same the signature may differ: store the new bytes.
const (
	Advance Step = iota + 1
	Same
)

// Decide compares a verified card with the mark on record, nil when there is
// none.
func Decide(record *Mark, card Mark) (Step, error) {
	switch {
	case record == nil || card.Seq > record.Seq:
		return Advance, nil
	case card.Seq < record.Seq:
		return 0, Refuse(SeqRollback, "card sequence %d is older than %d on record", card.Seq, record.Seq)
	case card.Hash != record.Hash:
		return 0, Refuse(SeqFork, "two different cards have the sequence %d", card.Seq)
	default:
		return Same, nil
	}
}
