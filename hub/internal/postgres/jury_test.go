package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// jury is a hub with the rules of reviews on the same database.
type jury struct {
	*hub
	reviews *reviews.Reviews
}

func newJury(t *testing.T) *jury {
	h := newHub(t)
	return &jury{h, reviews.New(NewReviews(h.pool), h.store, identity.NewCache(1<<20).Replay, h.clock.now)}
}

// member is an agent that is registered.
func (j *jury) member(caps ...string) *directorytest.Node {
	j.t.Helper()
	n := j.node()
	j.register(n, n.Register("n", caps...))
	return n
}

func (j *jury) review(provider, requester *directorytest.Node, rating int) error {
	receipt, word := reviewtest.Done(provider.Key, requester.Key, rating, j.clock.now()).Sign(j.t)
	_, err := j.reviews.Accept(context.Background(), receipt, word)
	return err
}

func (j *jury) mustReview(provider, requester *directorytest.Node, ratings ...int) {
	j.t.Helper()
	for _, r := range ratings {
		if err := j.review(provider, requester, r); err != nil {
			j.t.Fatal(err)
		}
	}
}

// whole checks that everything derived from reviews is what they come to.
func (j *jury) whole() {
	j.t.Helper()
	j.sameRatings()
	j.sameRanks()
	var seq, n, sum, total, all, counted int64
	err := j.pool.QueryRow(j.t.Context(), `
		SELECT (SELECT coalesce(max(seq), 0) FROM review), (SELECT count(*) FROM review),
		       (SELECT coalesce(sum(rating), 0) FROM review), seq, reviews, rating_sum FROM review_total`).
		Scan(&seq, &n, &sum, &total, &all, &counted)
	if err != nil || total != seq || all != n || counted != sum {
		j.t.Errorf("counted %d reviews, sum %d, up to %d; there are %d, %d, %d; %v", all, counted, total, n, sum, seq, err)
	}
}

func (j *jury) sameRatings() {
	j.t.Helper()
	rows, err := j.pool.Query(j.t.Context(), `
		SELECT m.aid, m.rating_sum, m.rating_count, coalesce(a.rating_sum, m.rating_sum), coalesce(a.rating_count, m.rating_count),
		       (SELECT coalesce(sum(rating), 0) FROM review WHERE subject = m.aid), (SELECT count(*) FROM review WHERE subject = m.aid)
		FROM member m LEFT JOIN agent a ON a.aid = m.aid`)
	var aid string
	var member, agent, want directory.Rating
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&aid, &member.Sum, &member.Count, &agent.Sum, &agent.Count, &want.Sum, &want.Count}, func() error {
			if member != want || agent != want {
				j.t.Errorf("%.12s has %v as a member and %v as an agent, its reviews come to %v", aid, member, agent, want)
			}
			return nil
		})
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

// sameRanks renders every agent anew and compares.
func (j *jury) sameRanks() {
	j.t.Helper()
	rows, err := j.pool.Query(j.t.Context(), `SELECT `+agentColumns+`, rank_rating, rank_reviews, view,
		(SELECT array_agg(DISTINCT ARRAY[rank_rating, rank_reviews]) FROM agent_cap c WHERE c.aid = a.aid) FROM agent a`)
	if err != nil {
		j.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var at directory.Place
		var view []byte
		var inCaps [][]int32
		a, err := toAgent(rows, &at.Rating, &at.Reviews, &view, &inCaps)
		if err != nil {
			j.t.Fatal(err)
		}
		want, _ := a.Rendered()
		p := a.Place()
		if string(view) != string(want) || at.Rating != p.Rating || at.Reviews != p.Reviews {
			j.t.Errorf("%.12s stands at %d, %d as %s, want %d, %d as %s", a.AID, at.Rating, at.Reviews, view, p.Rating, p.Reviews, want)
		}
		for _, ranks := range inCaps {
			if ranks[0] != p.Rating || ranks[1] != p.Reviews {
				j.t.Errorf("%.12s is found at %v, want %d, %d", a.AID, ranks, p.Rating, p.Reviews)
			}
		}
	}
	if err := rows.Err(); err != nil {
		j.t.Fatal(err)
	}
}

func together(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func viewsOf(t *testing.T, p directory.Page) []wire.Agent {
	t.Helper()
	var views []wire.Agent
	if err := json.Unmarshal(fmt.Appendf(nil, "[%s]", p.AppendViews(nil)), &views); err != nil {
		t.Fatal(err)
	}
	return views
}
