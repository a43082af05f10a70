package directory

import (
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/shared/card"
)

// Member is what the hub keeps of every AID that ever registered. It outlives a
// deregistration.
type Member struct {
	KEL       []byte
	FirstSeen time.Time
	CardMark  *card.Mark // nil when there never was a card
	ADPSeq    *int64
	Hidden    bool // by the hub's operator
	Rating    Rating
}

// Record is everything on record of one AID when a change is decided.
type Record struct {
	Member
	New    bool   // never registered before
	Agent  *Agent // nil while it is not registered
	Keyset []byte
	Card   []byte
	ADP    []byte
	Invite *admission.Shown // the one it comes with; nil when there is none

	Elsewhere ElsewhereRecord
}

// ElsewhereRecord is what is known of an AID from peers.
type ElsewhereRecord struct {
	KEL    []byte // nil when none told of it
	Rating Rating // of reviews that came in here before it registered; a part of the member's
	Shown  bool   // lists show it as an agent of another hub
}

// Entry is what a registration brings that its record is looked up with.
type Entry struct {
	KEL    []byte // what a new record begins with
	Invite string // the hash of a token to look up; empty for none
	At     time.Time
}

// Standing is what a registration has to know before its body is read.
type Standing struct {
	Known      bool // registered here
	KEL        []byte
	Body       BodyHash  // of the last registration, when it may be repeated
	Repeatable bool      // Body is set
	Until      time.Time // when something in the body expires; zero for never
	Answer     []byte    // what a repetition is told
}

// Repeats reports whether a body is the one the agent last registered with and
// nothing in it has expired: there is nothing to do then.
func (s Standing) Repeats(body BodyHash, now time.Time) bool {
	return s.Known && s.Repeatable && s.Body == body && (s.Until.IsZero() || now.Before(s.Until))
}

// Change is what a registration does to the record.
type Change struct {
	Agent  Agent
	KEL    []byte
	Keyset []byte // nil leaves what is stored
	Card   CardChange
	ADP    *ADPChange // nil leaves what is stored
	Lapsed bool       // the older card that is stored counts no more, nor what it sells
	Redeem string     // the invite that is used by this; empty for none

	Body   BodyHash
	Repeat []byte // what a repetition of this body will be told; nil when it is to be worked through
	Until  time.Time
}

// CardChange is what becomes of the network card.
type CardChange struct {
	Store *AdmittedCard
	Drop  bool
}

// AdmittedCard is a verified card with what lists need of it.
type AdmittedCard struct {
	Raw        []byte
	Mark       card.Mark
	VerifiedAt time.Time
	Facts      CardFacts
	Ignored    []string // skill ids that cannot be asked for
	Tags       []string
	Search     string
}

// ADPChange is an older card to store, with what it sells through the gateway.
type ADPChange struct {
	Raw    []byte
	Seq    int64
	From   time.Time // what it is dated, and no later than it came
	Prices map[string]uint64
}
