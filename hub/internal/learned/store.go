package learned

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// Job is a stream whose reading was leased. Nobody else reads on in it until the
// lease has run out; its methods of the Store fail with Conflict, reason
// lease_lost, once somebody does.
type Job struct {
	Peer     int64
	Stream   Stream
	Lease    string // unique to this one
	ReadTo   int64
	Round    int // readings that came to the end
	Calm     int // of them, those since something was new
	Pass     int // readings from the beginning
	Passing  bool
	Failures int // in a row
}

// Taken is an agent to be stored.
type Taken struct {
	Vetted
	Grown bool
}

// Lesson is what a page comes to.
type Lesson struct {
	Take    []Taken
	Told    []string // known word for word
	Drop    []string // withdrawn
	Hold    []Held
	Settled []string // decided on: no longer held
	Refused int
	Refusal string // the last one
	ReadTo  int64
}

// News reports whether the lesson changes anything.
func (l Lesson) News() bool { return len(l.Take)+len(l.Drop) > 0 }

// Outcome is how a reading ended.
type Outcome struct {
	Next    time.Time // when the stream is read again
	Failure string    // empty: the peer answered
	End     bool      // it came to the end
	News    bool
	Again   bool // the next one begins at the beginning
}

// Store keeps what peers taught, and where the reading of them stands.
type Store interface {
	// Enroll begins to learn from peers that are not learned from yet.
	Enroll(ctx context.Context, peers []int64, now time.Time) error

	// Lease gives up to n streams of these peers that are due and that nobody
	// reads, of each peer one: a slow one holds up its own streams alone.
	Lease(ctx context.Context, peers []int64, n int, now time.Time) ([]Job, error)

	// Look reads what stands on record of AIDs; all are in the answer.
	Look(ctx context.Context, j Job, aids []string) (map[string]Record, error)

	// Learn locks what stands on record of AIDs, lets decide look at it and at how
	// much room there is, writes the lesson and moves the reading on, all or
	// nothing.
	Learn(ctx context.Context, j Job, aids []string, now time.Time, decide func(map[string]Record, Room) Lesson) error

	// Histories gives the longest history of each AID that one is known of.
	Histories(ctx context.Context, aids []string) (map[string][]byte, error)

	// LearnReviews does for verified reviews what Learn does for agents. One that
	// is known stays as it is.
	LearnReviews(ctx context.Context, j Job, l ReviewLesson, now time.Time) (news bool, err error)

	// Due gives the numbers of held entries that are to be asked for again.
	Due(ctx context.Context, j Job, now time.Time) ([]Held, error)

	// Sweep forgets what a reading from the beginning has not met.
	Sweep(ctx context.Context, j Job, now time.Time) error

	// Release ends a lease.
	Release(ctx context.Context, j Job, o Outcome, now time.Time) error

	// Teachers are the peers that are learned from, or were.
	Teachers(ctx context.Context) ([]Teacher, error)

	// List has lists show what a peer taught, or not, a bounded number of agents a
	// call; done tells that all are as they should be.
	List(ctx context.Context, peer int64, listed bool) (done bool, err error)
}

// ReviewLesson is what a page of reviews comes to.
type ReviewLesson struct {
	Take    []Review
	Refused int
	Refusal string
	ReadTo  int64
}

// Teacher is a peer as far as it is learned from.
type Teacher struct {
	Peer   int64
	Listed bool // lists show what it taught
	Tour   bool // not all of it yet
	Heard  time.Time
}

// Horizon tells since when a peer has to have been silent, in time that the hub
// was up, for its agents to leave the lists.
type Horizon interface {
	Horizon(now time.Time) directory.Horizon
}
