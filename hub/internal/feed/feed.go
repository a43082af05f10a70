// Package feed is what this hub tells its peers of its own agents: two streams of
// cards, the second with withdrawals, and one of reviews (wire 2, J.4).
//
// The one rule its users must know: whether an agent may be told of is looked at
// when a page is read, and what a page leaves out or shows as it was has a higher
// number coming. So a peer that reads on from its cursor misses nothing, and nobody
// is told of for a moment longer than it wants to be.
package feed

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// Stream is one of the three.
type Stream int16

// The streams. The numbers of the first two stand in the database.
const (
	OlderCards Stream = 1 // cards of the first generation
	Cards      Stream = 2 // network cards, and withdrawals
	Reviews    Stream = 3
)

// Limits bound a page: peers read no more than 8 MiB of an answer of older cards.
type Limits struct {
	Entries int
	Bytes   int64
}

// Limits are those of the stream.
func (s Stream) Limits() Limits {
	if s == OlderCards {
		return Limits{Entries: 200, Bytes: 4 << 20}
	}
	return Limits{Entries: 100, Bytes: 4 << 20}
}

// Entry is one agent in a stream of cards.
type Entry struct {
	Seq       int64
	AID       string
	Withdrawn string // why peers are to forget what they were told; empty while they are told
	At        time.Time
	Card      []byte // nil where nothing is told just now: the entry has a higher number coming
	KEL       []byte
	Keyset    []byte // may be nil
}

// The reasons of withdrawals. Peers do not learn whether it was the operator or
// silence that took an agent out of the lists.
const (
	Left     = "left"
	Narrowed = "visibility"
	Unlisted = "not_listed"
	NoCard   = "card_withdrawn" // or it stopped verifying
)

// Review is one review in the stream.
type Review struct {
	Seq                      int64
	Receipt, Word            []byte
	ProviderKEL, ReviewerKEL []byte
}

// Span is the next part of a stream, up to and including Until, and the bytes it
// takes at most to show it. Until is where one began when there is nothing behind.
type Span struct {
	Until int64
	Bytes int64
}

// Store keeps the streams.
type Store interface {
	// Span gives the next page of a stream, no larger than its limits unless it is
	// one entry.
	Span(ctx context.Context, s Stream, after int64) (Span, error)

	// Cards reads the entries behind after in a span. Where they have become more
	// bytes than it says, it stops, and gives where.
	Cards(ctx context.Context, s Stream, after int64, span Span) (entries []Entry, until int64, err error)

	// Reviews does the same for the stream of reviews.
	Reviews(ctx context.Context, after int64, span Span) (reviews []Review, until int64, err error)
}

// ParseCursor reads where a peer wants to go on. One that is higher than every
// number there can be has nothing behind it.
func ParseCursor(text string) (int64, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, errs.New(errs.Invalid, "malformed", "cursor must be a whole number, 0 or more").In("cursor")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return math.MaxInt64, nil
	}
	return n, nil
}
