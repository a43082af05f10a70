package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

func TestReviewsMoveTheirSubject(t *testing.T) {
	j := newJury(t)
	first, second, third, judge := j.member("x"), j.member("x", "y"), j.member("x"), j.member()
	orders := func(why string, want ...*directorytest.Node) {
		t.Helper()
		q, _ := directory.AskText("")
		for _, got := range [][]string{j.find("x"), j.find("x*"), j.find("*"), j.list(q, 2)} {
			var aids []string
			for _, n := range want {
				aids = append(aids, n.AID())
			}
			if !slices.Equal(got, aids) {
				t.Errorf("%s: %v, want %v", why, got, aids)
			}
		}
	}
	orders("nobody is reviewed", first, second, third)
	j.mustReview(third, judge, 3)
	orders("one is", third, first, second)
	j.mustReview(second, judge, 5, 2) // 3.5
	orders("another one better", second, third, first)
	j.mustReview(third, judge, 4) // 3.5, as often
	orders("as good and as often: who is here longer", second, third, first)
	j.mustReview(third, first, 4, 3)
	orders("as good and more often", third, second, first)
	v, _, err := j.Show(t.Context(), third.AID())
	if err != nil || v.AvgRating != 3.5 || v.ReviewCount != 4 {
		t.Errorf("%+v, %v, want 3.5 of four", v, err)
	}
	j.whole()
}

// Number 43: whoever is second hears so, and nothing is counted twice.
func TestOneReviewOfAnInteraction(t *testing.T) {
	j := newJury(t)
	provider, requester := j.member("x"), j.member()
	receipt, word := reviewtest.Done(provider.Key, requester.Key, 4, j.clock.now()).Sign(t)
	parsed, err := reviews.Parse(receipt, word)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	answers := map[string]int{}
	together(20, func(int) {
		err := NewReviews(j.pool).Put(context.Background(), parsed, j.clock.now())
		mu.Lock()
		defer mu.Unlock()
		if e := errs.As(err); e != nil {
			answers[e.Kind.String()+" "+e.Reason]++
			return
		}
		answers[fmt.Sprint(err)]++
	})
	if answers["<nil>"] != 1 || answers["conflict review_conflict"] != 19 {
		t.Errorf("answers %v, want one taken and 19 conflicts", answers)
	}
	_, err = j.reviews.Accept(t.Context(), receipt, word)
	wantReason(t, "afterwards", err, "interaction_reviewed")
	j.whole()
}

// Number 45: reviews outlive the registration, and come back with the AID.
func TestReviewsOutliveTheRegistration(t *testing.T) {
	j := newJury(t)
	provider, other, judge := j.member("x"), j.member("x"), j.member()
	j.mustReview(provider, judge, 5, 4)
	if _, err := j.Deregister(t.Context(), provider.Proof(j.clock.now())); err != nil {
		t.Fatal(err)
	}
	v, _, err := j.Show(t.Context(), provider.AID())
	if err != nil || v.Registered || v.AvgRating != 4.5 || v.ReviewCount != 2 {
		t.Errorf("one that left is shown as %+v, %v, want 4.5 of two", v, err)
	}
	j.mustReview(provider, judge, 3) // of work it did before
	p, err := j.reviews.Of(t.Context(), provider.AID(), 10, "")
	if err != nil || len(p.Reviews) != 3 || p.Reviews[0].Rating != 3 || p.Reviews[2].Rating != 5 {
		t.Errorf("%+v, %v, want all three, the latest first", p, err)
	}
	rep, err := j.reviews.Reputation(t.Context(), provider.AID())
	if err != nil || rep.Local != (wire.ReviewSource{Reviews: 3, AvgRating: 4}) {
		t.Errorf("%+v, %v", rep, err)
	}
	j.register(provider, provider.Register("n", "x"))
	if got := j.find("x"); !slices.Equal(got, []string{provider.AID(), other.AID()}) {
		t.Errorf("found in the order %v, want the one with reviews first", got)
	}
	j.whole()

	// Who said it may leave, too.
	if _, err := j.Deregister(t.Context(), judge.Proof(j.clock.now())); err != nil {
		t.Fatal(err)
	}
	if p, err := j.reviews.Of(t.Context(), provider.AID(), 10, ""); err != nil || len(p.Reviews) != 3 {
		t.Errorf("%+v, %v, want all three still", p, err)
	}
	j.whole()
}

// A registration that changes nothing stays one after a review.
func TestAReviewKeepsARegistrationRepeatable(t *testing.T) {
	j := newJury(t)
	provider, judge := j.member("x"), j.member()
	j.mustReview(provider, judge, 5)
	app := provider.Apply(provider.Register("n", "x"))
	if st, err := j.Standing(t.Context(), j.visitor(provider)); err != nil || !st.Repeats(app.Body, j.clock.now()) {
		t.Errorf("%+v, %v, want it repeatable", st, err)
	}
}

func TestReviewsArePaged(t *testing.T) {
	j := newJury(t)
	provider, judge := j.member("x"), j.member()
	ratings := []int{1, 2, 3, 4, 5}
	j.mustReview(provider, judge, ratings...)
	slices.Reverse(ratings)
	var got []int
	for from := ""; ; {
		p, err := j.reviews.Of(t.Context(), provider.AID(), 2, from)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range p.Reviews {
			got = append(got, v.Rating)
		}
		if from = p.Next; from == "" {
			break
		}
		_, err = j.reviews.Of(t.Context(), judge.AID(), 2, from)
		wantReason(t, "a cursor of another agent", err, "cursor_invalid")
	}
	if !slices.Equal(got, ratings) {
		t.Errorf("pages hold %v, want %v", got, ratings)
	}
}

// Who reads on from the last number it saw misses nothing, whoever commits late.
func TestReviewsBecomeVisibleInTheirOrder(t *testing.T) {
	j := newJury(t)
	judge := j.member()
	agents := []*directorytest.Node{j.member("x"), j.member("x"), j.member("x")}
	const each = 30
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(len(agents), func(i int) {
			for range each {
				if err := j.review(agents[i], judge, 5); err != nil {
					t.Error(err)
				}
			}
		})
	}()
	var after, seen int64
	read := func() {
		edges, err := NewReviews(j.pool).Edges(t.Context(), after, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range edges {
			after, seen = e.Seq, seen+1
		}
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		read()
	}
	for before := int64(-1); before != seen; {
		before = seen
		read()
	}
	if seen != each*int64(len(agents)) {
		t.Errorf("a reader that goes on saw %d of %d reviews", seen, each*len(agents))
	}
}

// No question about reviews reads more than it shows.
func TestNoQuestionAboutReviewsScansATable(t *testing.T) {
	j := newJury(t)
	const agents, said = 20_000, 100_000
	seed(t, j.pool, agents)
	seedTaught(t, j.pool, agents)
	_, err := j.pool.Exec(t.Context(), `
		WITH aids AS (SELECT aid, row_number() OVER (ORDER BY aid) AS i FROM member)
		INSERT INTO review (interaction, subject, reviewer, seq, rating, receipt, review, accepted_at)
		SELECT 'ix_' || n, s.aid, r.aid, n, 1 + n % 5, '\x00', '\x00', '2026-01-01Z'
		FROM generate_series(1, @said::bigint) AS n
		JOIN aids s ON s.i = 1 + n % (@agents / CASE WHEN n % 2 = 0 THEN 1 ELSE @agents END)
		JOIN aids r ON r.i = 1 + n * 7919 % @agents`, pgx.NamedArgs{"said": said, "agents": int64(agents)})
	if err == nil {
		_, err = j.pool.Exec(t.Context(), `ANALYZE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	conn, err := j.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var busy string
	var aids []string
	err = conn.QueryRow(t.Context(), `SELECT (SELECT subject FROM review WHERE seq = 1), (SELECT array_agg(aid) FROM (SELECT aid FROM member LIMIT 100) AS m)`).Scan(&busy, &aids)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []question{
		{"of one with half of all", reviewsOfSQL, []any{pgx.NamedArgs{"aid": busy, "before": int64(math.MaxInt64), "n": 101}}, "review_subject", 101},
		{"of nobody", reviewsOfSQL, []any{pgx.NamedArgs{"aid": "b", "before": int64(math.MaxInt64), "n": 101}}, "review_subject", 101},
		{"edges in the middle", edgesSQL, []any{pgx.NamedArgs{"after": int64(said / 2), "n": 101}}, "review_seq_uq", 101},
		{"whether it was reviewed", reviewedSQL, []any{pgx.NamedArgs{"interaction": "ix_77", "subject": busy, "reviewer": busy}}, "review_pk", 1},
		{"a hundred faces", facesSQL, []any{pgx.NamedArgs{"aids": aids}}, "agent_pk", 100},
	} {
		c.ask(t, conn)
	}
}
