package reviews

import (
	"context"
	"math"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/wire"
)

// Reputation is what reviews say of an agent, by where they were taken in. It
// answers for everybody: nobody said anything of a stranger.
func (r *Reviews) Reputation(ctx context.Context, aid string) (wire.Reputation, error) {
	local, err := r.store.Rating(ctx, aid)
	if err != nil {
		return wire.Reputation{}, err
	}
	taught, err := r.sums.of(ctx, r.store, aid, r.now)
	peers := make([]wire.ReviewSource, len(taught))
	for i, p := range taught {
		peers[i] = source(p.Hub, p.Rating)
	}
	return reputation(aid, source("", local), peers...), err
}

// source is a rating as one of the places it comes from.
func source(hub string, r directory.Rating) wire.ReviewSource {
	return wire.ReviewSource{Hub: hub, Reviews: r.Count, AvgRating: round(r.Mean())}
}

// reputation combines what is known here with what peers' reviews say. A peer's
// own average counts for nothing; concentration tells how much of all comes
// from one place.
func reputation(aid string, local wire.ReviewSource, peers ...wire.ReviewSource) wire.Reputation {
	var most, all int64
	var sum float64
	for _, s := range append([]wire.ReviewSource{local}, peers...) {
		most, all, sum = max(most, s.Reviews), all+s.Reviews, sum+s.AvgRating*float64(s.Reviews)
	}
	out := wire.Reputation{AID: aid, Local: local, Peers: append([]wire.ReviewSource{}, peers...)}
	if all > 0 {
		out.Combined = wire.ReviewSource{Reviews: all, AvgRating: round(sum / float64(all))}
		out.Concentration = round(float64(most) / float64(all))
	}
	return out
}

// round keeps two decimals, half up.
func round(f float64) float64 { return math.Floor(f*100+0.5) / 100 }

// Total is what all reviews taken in here come to. Each is about a receipt of
// its own, so there are as many of these.
func (r *Reviews) Total(ctx context.Context) (directory.Rating, error) { return r.store.Total(ctx) }
