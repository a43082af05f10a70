package reviews

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// Store keeps reviews. They stay whatever becomes of the two parties.
type Store interface {
	// Reviewed reports whether the reviewer has said its word on the interaction.
	Reviewed(ctx context.Context, r Review) (bool, error)

	// Put stores a verified review, counts it and gives its subject the place in
	// lists that goes with it, all or nothing. One that another request was
	// faster with is a Conflict, reason review_conflict; one of a reviewer who is
	// blocked by now is Forbidden.
	Put(ctx context.Context, r Review, now time.Time) error

	// Of gives up to n reviews of an agent that were taken in before the one
	// numbered before, the latest first.
	Of(ctx context.Context, aid string, before int64, n int) ([]Kept, error)

	// Rating is what the reviews of an agent come to; zero for anybody without.
	Rating(ctx context.Context, aid string) (directory.Rating, error)

	// Elsewhere is what reviews that peers took in, and this hub did not, come to,
	// in the order of the peers.
	Elsewhere(ctx context.Context, aid string) ([]Peer, error)

	// Edges gives up to n reviews after the one numbered after, in the order
	// they were taken in.
	Edges(ctx context.Context, after int64, n int) ([]Edge, error)

	// Total is what all reviews come to.
	Total(ctx context.Context) (directory.Rating, error)
}

// Kept is a stored review: its number, which grows with every review that is
// taken in, and the signed objects.
type Kept struct {
	Seq           int64
	Receipt, Word []byte
}

// Edge says that one agent rated another.
type Edge struct {
	Seq               int64
	Reviewer, Subject string
	Rating            int
}

// Peer is what the reviews of one agent come to that a peer took in. Hub is its
// address.
type Peer struct {
	Hub    string
	Rating directory.Rating
}
