package directory

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/identity"
)

// Directory is the hub's directory.
type Directory struct {
	store  Store
	life   Lives
	door   admission.Door
	replay func(kel []byte) (*identity.History, error)
	now    func() time.Time
	recent recents
}

// New makes a directory over its store. door decides about AIDs that are not
// registered; replay replays key histories, usually from a cache.
func New(store Store, life Lives, door admission.Door, replay func([]byte) (*identity.History, error), now func() time.Time) *Directory {
	return &Directory{store: store, life: life, door: door, replay: replay, now: now}
}

// Lives notes signs of life, and judges by them.
type Lives interface {
	Seen(aid string, at time.Time)
	Forget(aid string)

	// Ages are what this hub is set to; Horizon is what they come down to, with
	// what the hub itself was away taken into account.
	Ages() Ages
	Horizon(now time.Time) Horizon
}

// Store keeps the directory. Methods that take a Proof use it up in the
// transaction of their effect: neither happens without the other. An AID that
// is not registered is a NotFound error, reason agent_unknown.
type Store interface {
	Lists

	// Standing is the zero value for an AID that is not registered. Who is
	// blocked is Forbidden.
	Standing(ctx context.Context, v moderation.Visitor) (Standing, error)

	// Remember uses up the proof of a request that changes nothing.
	Remember(ctx context.Context, p replay.Proof) error

	// Recall does the same for a registration whose body is the last one on
	// record, unless something in it has expired, and gives the answer on record.
	// It gives nil, the proof being as it was, where that or the proof is not so.
	Recall(ctx context.Context, p replay.Proof, body BodyHash, now time.Time) (answer []byte, err error)

	// Invited gives the invite of a token's hash as the AID meets it, nil when
	// there is none.
	Invited(ctx context.Context, hash, aid string) (*admission.Shown, error)

	// Register locks the record of the proof's AID, beginning one where there is
	// none, and the invite it comes with; lets decide look at them and writes the
	// change, all or nothing.
	Register(ctx context.Context, p replay.Proof, e Entry, decide func(Record) (Change, error)) error

	// Deregister removes the registration and all that hangs on it; the member
	// stays. It tells how many messages were waiting.
	Deregister(ctx context.Context, p replay.Proof) (undelivered int64, err error)

	// Update changes a registration under its lock.
	Update(ctx context.Context, p replay.Proof, change func(*Agent)) error

	// PutKeys locks the record, lets decide look at the stored key set (nil for
	// none) and the key history, and stores what it returns unless that is nil.
	PutKeys(ctx context.Context, p replay.Proof, decide func(kel, stored []byte) ([]byte, error)) error

	// PutAddress stores the address of direct connections, "" removes it.
	PutAddress(ctx context.Context, p replay.Proof, addr string, now time.Time) error

	Reads
}

// Reads are the plain look-ups. Each fails with NotFound where there is nothing.
type Reads interface {
	Agent(ctx context.Context, aid string) (Agent, Life, error)
	Member(ctx context.Context, aid string) (m Member, registered bool, err error)
	Keys(ctx context.Context, aid string) (keyset, kel []byte, err error)
	ADPCard(ctx context.Context, aid string) ([]byte, error)
	Address(ctx context.Context, aid string) (Address, error)
	Addresses(ctx context.Context, after string, n int) ([]Address, error)
	Card(ctx context.Context, aid string) ([]byte, error)

	// Cards looks at no more than n cards behind after, and stops once those it
	// read have more than most bytes; it always reads one.
	Cards(ctx context.Context, q CardQuestion, after string, n, most int) (CardStep, error)

	// Faces gives agents in the order of aids, of which no two are the same; it
	// stops once their views have more than most bytes, and not before the second.
	Faces(ctx context.Context, aids []string, most int) ([]Face, error)

	Counts(ctx context.Context) (map[string]int64, error)

	// Elsewhere is an agent of another hub, where lists show it.
	Elsewhere(ctx context.Context, aid string) (Elsewhere, error)

	// KnownElsewhere is the key history of an AID that peers told of, whatever
	// became of it since.
	KnownElsewhere(ctx context.Context, aid string) (kel []byte, err error)

	// TaughtKeys are the key sets that peers told of an agent of another hub, the
	// one to be tried first in front, with its history.
	TaughtKeys(ctx context.Context, aid string) (keysets [][]byte, kel []byte, err error)

	// Taught are all who tell of an AID, those in front whose entry was taken.
	Taught(ctx context.Context, aid string) ([]Taught, error)

	// Refused is Forbidden where a block holds for who asks.
	Refused(ctx context.Context, v moderation.Visitor) error
}

// Address is where an agent says it can be reached directly.
type Address struct {
	AID, Addr string
	At        time.Time
}
