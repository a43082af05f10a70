package peers

import "time"

// Stream is one of what a peer publishes (wire 2, J.4).
type Stream string

// The streams.
const (
	ADPCards Stream = "adp-cards"
	Cards    Stream = "cards"
	Reviews  Stream = "reviews"
)

// Progress is how far a stream of a peer was read.
type Progress struct {
	Stream     Stream
	Cursor     uint64    // the last entry that was decided on
	HeldSeq    uint64    // the entry the stream waits at; 0: none
	HeldAID    string    // whose it is
	HeldReason string    // why it is asked again
	LastOK     time.Time // of the last page that was read; zero: none
	NextAt     time.Time // when the next is asked for
	Failure    string    // of the last reading, in words; empty: there was none
	Refused    int64     // entries that were refused for good, ever
	Refusal    string    // the last of them, in words
	RefusedAt  time.Time // when that was
	Entries    int64     // rows learned of it that are kept now
	Lag        int64     // entries known to wait; -1 where that is unknown
}
