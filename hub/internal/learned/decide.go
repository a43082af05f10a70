package learned

import (
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Source is the stream that an entry stands in.
type Source struct {
	Peer     int64
	Stream   Stream
	Endpoint string // of the peer
}

// Record is what stands on record of an AID when an entry about it is decided on.
type Record struct {
	Registered bool        // here
	Known      bool        // peers told of it before
	KEL        []byte      // the longest history there is, nil for none
	Marks      []card.Mark // of cards, as a member of this hub and from peers
	ADPSeqs    []int64     // of older cards, likewise
	Rating     directory.Rating
	Mine       *Row // what stands here of the same stream
	Sister     bool // there is a row of the peer's other stream of cards
}

// Row is what was taken of a stream before.
type Row struct {
	Entry    Hash
	Size     int
	TaughtAt time.Time
}

// Room is how much more a peer may teach. Marks are what stays of an agent when all
// else is taken back: one for each, and one more for each KiB of its key history.
type Room struct{ Agents, Marks, Bytes int64 }

// Step is what becomes of an entry.
type Step int

// The steps.
const (
	Pass   Step = iota // it changes nothing: known word for word, or nothing of ours
	Take               // it is stored
	Drop               // it takes back what was stored
	Hold               // refused for now: it is asked for again
	Refuse             // refused for good: it is counted and passed
)

func (s Step) String() string {
	return [...]string{"known", "taken", "withdrawn", "held", "refused"}[s]
}

// Verdict is what becomes of an entry, and why where it is not taken. Reason is
// one of a closed list, or a code of wire 2, H.4.
type Verdict struct {
	Step   Step
	Reason string
	Says   string
	Retry  time.Time // of one that is held
	Grown  bool      // the history on record is extended by it
}

// RegisteredHere is the reason to hold an entry about an agent of this hub: its
// own word is here.
const RegisteredHere = "registered_here"

// Decide says what becomes of a vetted entry beside what stands on record. It
// asks nobody, so that an operator can be told what would be taken as well.
func Decide(v Vetted, rec Record, room Room, now time.Time) Verdict {
	switch {
	case v.err != nil && v.AID == "":
		return refused(v.err, now)
	case v.Withdrawn:
		return Verdict{Step: dropIf(rec.Mine != nil || rec.Sister)}
	case rec.Registered:
		return Verdict{Step: Hold, Reason: RegisteredHere, Says: "the agent is registered at this hub, whose own record counts"}
	case rec.Mine != nil && rec.Mine.Entry == v.Hash:
		return Verdict{Step: Pass}
	case v.err != nil:
		return refused(v.err, now)
	}
	grown, err := grows(v, rec)
	if err == nil {
		err = unseen(v, rec)
	}
	if err == nil {
		err = room.fits(v, rec)
	}
	if err != nil {
		return refused(err, now)
	}
	return Verdict{Step: Take, Grown: grown}
}

func dropIf(stored bool) Step {
	if stored {
		return Drop
	}
	return Pass
}

// refused tells what may change by itself from what never will.
func refused(err error, now time.Time) Verdict {
	out := Verdict{Step: Refuse, Reason: reasonOf(err), Says: err.Error()}
	switch card.CodeOf(err) {
	case card.KELUnavailable, card.CardNotYetValid:
		out.Step, out.Retry = Hold, now.Add(retryHeld)
	}
	if errs.Is(err, "kel_moved") {
		out.Step, out.Retry = Hold, now
	}
	return out
}

// retryHeld is when an entry is asked for again that time may mend.
const retryHeld = 10 * time.Minute

func reasonOf(err error) string {
	if code := card.CodeOf(err); code != "" {
		return strings.ToLower(string(code))
	}
	if e := errs.As(err); e != nil {
		return e.Reason
	}
	return "malformed"
}

// grows compares the history that the entry verified under with the one on record
// now: it may have grown since.
func grows(v Vetted, rec Record) (bool, error) {
	if len(rec.KEL) == 0 {
		return true, nil
	}
	rel, err := identity.Compare(v.Under, rec.KEL)
	switch {
	case err != nil:
		return false, malformed("the key history is none", err)
	case rel == identity.Forked:
		return false, errs.New(errs.Invalid, "kel_forked", "the key history contradicts the one on record")
	case rel == identity.Shorter:
		return false, errs.New(errs.Conflict, "kel_moved", "the key history on record has grown meanwhile")
	}
	return rel == identity.Extends, nil
}

// unseen holds the card to the highest of its agent that was ever admitted, here or
// from a peer.
func unseen(v Vetted, rec Record) error {
	for _, m := range rec.Marks {
		if v.Card == nil {
			break
		}
		if _, err := card.Decide(&m, v.Card.Mark); err != nil {
			return err
		}
	}
	for _, seq := range rec.ADPSeqs {
		if v.Card == nil && v.ADPSeq < seq {
			return card.Refuse(card.SeqRollback, "card sequence %d is older than %d on record", v.ADPSeq, seq)
		}
	}
	return nil
}

// Marks is what an entry leaves for good.
func (v Vetted) Marks(rec Record) int64 {
	marks := 1 + int64(len(v.Under))/1024
	if rec.Known {
		marks -= 1 + int64(len(rec.KEL))/1024
	}
	return max(0, marks)
}

// fits holds a peer to its quota. What it takes back makes room again.
func (r Room) fits(v Vetted, rec Record) error {
	had := 0
	if rec.Mine != nil {
		had = rec.Mine.Size
	}
	switch {
	case rec.Mine == nil && r.Agents < 1:
		return errs.New(errs.Full, "peer_agents_full", "the peer teaches as many agents as one may")
	case v.Marks(rec) > max(0, r.Marks):
		return errs.New(errs.Full, "peer_marks_full", "the peer told of as many agents as one may, ever")
	case int64(v.Size()-had) > r.Bytes:
		return errs.New(errs.Full, "peer_bytes_full", "the peer takes up as much room as one may")
	}
	return nil
}
