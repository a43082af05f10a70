package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/liveness"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/errs"
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

func together(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// Whatever is written at once, nobody is left at a place its reviews don't give:
// reviews, registrations that change and that don't, profiles, leaving, coming
// back, the sweep, and two who review each other.
func TestRanksHoldUnderParallelWriters(t *testing.T) {
	j := newJury(t)
	agents := make([]*directorytest.Node, 4)
	for i := range agents {
		agents[i] = j.member("x")
	}
	judge := j.member()
	ctx := context.Background()
	register := func(n *directorytest.Node, caps ...string) {
		if _, err := j.Register(ctx, n.Apply(n.Register("n", caps...)), n.Proof(j.clock.now())); err != nil {
			t.Error(err)
		}
	}
	together(12, func(worker int) {
		n, next := agents[worker%4], agents[(worker+1)%4]
		for i := range 15 {
			switch worker / 4 {
			case 0:
				if err := j.review(n, judge, 1+(worker+i)%5); err != nil {
					t.Error(err)
				}
			case 1:
				if err := j.review(n, next, 1+i%5); err != nil && !errs.Is(err, "reviewer_unknown") {
					t.Error(err)
				}
			default:
				j.disturb(n, i, register)
			}
		}
	})
	j.whole()
	for _, n := range agents {
		register(n, "x", "last")
	}
	j.whole()
	if got := len(j.find("last")); got != 4 {
		t.Errorf("%d agents are found at the end, want 4", got)
	}
}

// disturb is what else happens to an agent.
func (j *jury) disturb(n *directorytest.Node, i int, register func(*directorytest.Node, ...string)) {
	ctx := context.Background()
	switch i % 7 {
	case 0:
		register(n, "x", fmt.Sprint("y", i))
	case 1:
		register(n, "x")
	case 2:
		err := j.SetProfile(ctx, n.Proof(j.clock.now()), directory.Profile{Summary: fmt.Sprint(i)})
		if err != nil {
			j.t.Error(err)
		}
	case 3:
		if _, err := j.Deregister(ctx, n.Proof(j.clock.now())); err != nil {
			j.t.Error(err)
		}
	case 4:
		register(n, "x", "z")
	case 5: // everybody is away
		at := j.clock.now()
		if _, err := j.store.Sweep(ctx, liveness.Step{Before: at.Add(time.Hour), Now: at}); err != nil {
			j.t.Error(err)
		}
	case 6:
		if _, err := j.store.Stamp(ctx, map[string]time.Time{n.AID(): j.clock.now()}); err != nil {
			j.t.Error(err)
		}
	}
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

func TestJoinShowsWhoeverIsNamed(t *testing.T) {
	j := newJury(t)
	listed, unlisted, left := j.member("x"), j.member(), j.member("x")
	if _, err := j.Deregister(t.Context(), left.Proof(j.clock.now())); err != nil {
		t.Fatal(err)
	}
	page, err := j.List(t.Context(), directory.Question{}, 10, "", plenty)
	if err != nil {
		t.Fatal(err)
	}
	stranger := j.node().AID()
	shown, err := j.Join(t.Context(), &page, []string{listed.AID(), left.AID(), unlisted.AID(), left.AID(), stranger}, plenty)
	if err != nil || page.Count != 4 || !shown(left.AID()) || !shown(stranger) || shown("nobody") {
		t.Fatalf("%d nodes, %v", page.Count, err)
	}
	views := viewsOf(t, page)
	if !views[0].Registered || views[0].AID != listed.AID() || views[1].Registered || !views[1].Departed ||
		!views[2].Registered || views[2].Listed || views[3].Registered || views[3].Departed {
		t.Errorf("nodes %+v", views)
	}
	if page.Size() < len(page.AppendViews(nil)) {
		t.Errorf("the page takes %d bytes, more than the %d it said", len(page.AppendViews(nil)), page.Size())
	}
}

// Two are always shown, so that one edge is: a graph of agents with much to say
// comes to its end, too.
func TestJoinAlwaysShowsTwo(t *testing.T) {
	j := newJury(t)
	var aids []string
	for range 3 {
		n := j.node()
		r := n.Register("n", "x")
		r.Pricing = string(slices.Repeat([]byte("p"), 1<<10))
		for i := range 60 {
			r.Caps = append(r.Caps, fmt.Sprintf("%0250d", i))
		}
		j.register(n, r)
		aids = append(aids, n.AID())
	}
	page := directory.Page{}
	shown, err := j.Join(t.Context(), &page, aids, plenty)
	if err != nil || page.Count != 2 || !shown(aids[0]) || !shown(aids[1]) || shown(aids[2]) {
		t.Errorf("%d nodes, %v, want the first two", page.Count, err)
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

func viewsOf(t *testing.T, p directory.Page) []wire.Agent {
	t.Helper()
	var views []wire.Agent
	if err := json.Unmarshal(fmt.Appendf(nil, "[%s]", p.AppendViews(nil)), &views); err != nil {
		t.Fatal(err)
	}
	return views
}
