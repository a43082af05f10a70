package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// learner is a hub that learns from hubs in memory.
type learner struct {
	*hub
	net    *learnedtest.Net
	learns *Learned
	list   []peers.Peer
	off    bool // discovery, for the whole hub
	puller *learned.Puller
}

// quota is what a peer may teach in these tests.
var quota = learned.Room{Agents: 2000, Marks: 4000, Bytes: 64 << 20}

// newLearner is a hub with so many peers, called p1, p2 and so on.
func newLearner(t *testing.T, n int) *learner {
	h := newHub(t)
	l := &learner{hub: h, net: learnedtest.NewNet(), learns: NewLearned(h.pool, quota)}
	for i := range n {
		l.addPeer(i + 1)
	}
	l.puller = l.process()
	return l
}

func (l *learner) addPeer(i int) {
	l.t.Helper()
	p := peers.Peer{AID: l.node().AID(), Endpoint: fmt.Sprintf("https://p%d.example.org", i), Name: fmt.Sprintf("p%d", i), Discovery: true, KEL: []byte{1}}
	err := l.pool.QueryRow(l.t.Context(), `
		INSERT INTO peer (position, aid, endpoint, name, delivery, discovery, kel, proved_at, added_at, next_try_at)
		VALUES ($1, $2, $3, $4, true, true, '\x80', $5, $5, $5) RETURNING id`, i, p.AID, p.Endpoint, p.Name, l.clock.now()).Scan(&p.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	l.list = append(l.list, p)
}

// process is one more process of the hub.
func (l *learner) process() *learned.Puller {
	return learned.NewPuller(learned.Puller{
		Vetter: learned.Vetter{Replay: identity.Replay, Now: l.clock.now},
		Store:  l.learns, Net: l.net, Peers: l, Horizon: l.lives,
		Metrics: learned.NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
	})
}

func (l *learner) All() []peers.Peer { return l.list }

func (l *learner) Discovering() (out []peers.Peer) {
	for _, p := range l.list {
		if p.Discovers() && !l.off {
			out = append(out, p)
		}
	}
	return out
}

func (l *learner) DiscoveryOff() bool { return l.off }

func (l *learner) peer(i int) *learnedtest.Peer { return l.net.Peer(l.list[i-1].Endpoint) }

// pull lets time pass and reads every stream of every peer.
func (l *learner) pull() {
	l.t.Helper()
	l.clock.advance(3 * time.Minute)
	for range 3 { // of each peer one stream at a time
		if err := l.puller.Once(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
	}
}

// judge brings lists to what holds for the teachers.
func (l *learner) judge() {
	l.t.Helper()
	if err := l.puller.Judge(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

// wants compares what ?cap= finds, in the order it is shown.
func (l *learner) wants(why, value string, nodes ...*directorytest.Node) {
	l.t.Helper()
	var want []string
	for _, n := range nodes {
		want = append(want, n.AID())
	}
	if got := l.find(value); !slices.Equal(got, want) {
		l.t.Errorf("%s: %s finds %v, want %v", why, value, got, want)
	}
}

// shows gives the one agent that ?cap= finds.
func (l *learner) shows(value string) wire.Agent {
	l.t.Helper()
	q, _ := directory.AskCap(value)
	p, err := l.List(l.t.Context(), q, 10, "", plenty)
	if err != nil || p.Count != 1 {
		l.t.Fatalf("%s finds %d agents, want one (%v)", value, p.Count, err)
	}
	return viewsOf(l.t, p)[0]
}

func (l *learner) row(sql string, args ...any) (out string) {
	l.t.Helper()
	if err := l.pool.QueryRow(l.t.Context(), sql, args...).Scan(&out); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// whole asks what looks at restored backups.
func (l *learner) whole() {
	l.t.Helper()
	wrong, err := NewIntegrity(l.pool, func(string) {}).Check(l.t.Context())
	if err != nil || len(wrong) > 0 {
		l.t.Errorf("the database does not hold together: %v %v", wrong, err)
	}
}

func TestPeersAgentsStandBehindOurs(t *testing.T) {
	l := newLearner(t, 2)
	theirs, ours, plain := l.node(), l.node(), l.node()
	l.peer(1).Agent(theirs, 1, l.clock.now(), "text.digest", "text.count")
	l.peer(2).Older(plain, 1, l.clock.now())
	l.pull()
	l.register(ours, ours.Register("ours", "text.digest"))
	l.wants("exact", "text.digest", ours, theirs)
	l.wants("a prefix", "text.*", ours, theirs)
	l.wants("several", "text.count,text.digest", ours, theirs)
	if got := l.list1("digest"); !slices.Equal(got, []string{ours.AID(), theirs.AID()}) {
		t.Errorf("?q= finds %v", got)
	}
	v := l.shows("text.count")
	if v.HomeHub != "https://hub.example.org" || v.Registered || v.Quiet || v.LastSeen != nil || !v.Listed {
		t.Errorf("the view %+v", v)
	}
	stats, err := l.Stats(t.Context())
	if err != nil || stats.Agents != 1 || stats.Federated != 2 {
		t.Errorf("stats %+v, %v, want one of ours and two of theirs", stats, err)
	}
	l.whole()
}

// list1 asks ?q=, a page of one at a time.
func (l *learner) list1(text string) []string {
	q, err := directory.AskText(text)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.hub.list(q, 1)
}

func TestWhatAPeerToldIsShownInFull(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 1, l.clock.now(), "text.digest")
	l.peer(1).Older(n, 3, l.clock.now())
	l.pull()
	v, note, err := l.Show(t.Context(), n.AID())
	if err != nil || note == "" || v.Registered || v.Departed || v.HomeHub == "" {
		t.Errorf("shown as %+v, %q, %v", v, note, err)
	}
	if h, err := l.KEL(t.Context(), n.AID()); err != nil || h.Source != "federated" || !slices.Equal(h.KEL, n.Key.KEL()) {
		t.Errorf("its history is %s, %v", h.Source, err)
	}
	if keys, kel, err := l.Keys(t.Context(), n.AID()); err != nil || len(keys) == 0 || len(kel) == 0 {
		t.Errorf("its keys: %d bytes, %v", len(keys), err)
	}
	if raw, err := l.NetworkCard(t.Context(), n.AID()); err != nil || !strings.Contains(string(raw), n.AID()) {
		t.Errorf("its card: %s, %v", raw, err)
	}
	if raw, err := l.ADPCard(t.Context(), n.AID()); err != nil || !strings.Contains(string(raw), n.AID()) {
		t.Errorf("its older card: %s, %v", raw, err)
	}
	for _, q := range []directory.CardQuestion{{}, {Skill: "text.digest"}, {Text: "digest"}, {Tag: "digest"}} {
		if p, err := l.ListCards(t.Context(), q, 10, ""); err != nil || len(p.Rows) != 1 || p.Rows[0].Home == "" || p.Rows[0].Quiet(p.Horizon) {
			t.Errorf("cards of %+v: %+v, %v", q, p.Rows, err)
		}
	}
	if _, err := l.JWKS(t.Context(), n.AID()); err == nil {
		t.Error("this hub states the keys of an agent of another")
	}
	l.clock.advance(60 * 24 * time.Hour) // its keys are over
	_, _, err = l.Keys(t.Context(), n.AID())
	wantReason(t, "keys that do not verify any more", err, "keys_unknown")
}

func TestAnAgentThatRegistersHereIsOursAlone(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 5, l.clock.now(), "text.digest", "there.only")
	l.pull()
	r := n.Register("n", "here.only")
	r.A2ACard = n.Card(5, l.clock.now(), "an agent", "text.digest")
	l.register(n, r)
	l.wants("both have it", "text.digest", n)
	l.wants("what it said there", "there.only")
	if v := l.shows("here.only"); v.HomeHub != "" || !v.Registered {
		t.Errorf("shown as %+v", v)
	}
	l.peer(1).Agent(n, 6, l.clock.now(), "text.digest", "later")
	other := l.node()
	l.peer(1).Agent(other, 1, l.clock.now(), "behind.it")
	l.pull()
	l.wants("what a peer says since", "later")
	l.wants("who stands behind it in the stream", "behind.it", other)
	if p := l.progress(1); p.HeldAID != n.AID() || p.HeldReason != learned.RegisteredHere || p.Cursor != p.HeldSeq-1 {
		t.Errorf("the stream stands at %+v, want it held before the agent", p)
	}
	l.whole()

	if _, err := l.Deregister(t.Context(), n.Proof(l.clock.now())); err != nil {
		t.Fatal(err)
	}
	l.wants("at once, what was told before", "there.only", n)
	l.pull()
	l.wants("with the next round, what was told since", "later", n)
	if p := l.progress(1); p.HeldSeq != 0 {
		t.Errorf("the stream stands at %+v, want nothing held", p)
	}
	l.whole()
}

func (l *learner) progress(peer int64) peers.Progress {
	l.t.Helper()
	all, err := NewPeers(l.pool).Progress(l.t.Context(), l.list[peer-1].ID)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, p := range all {
		if p.Stream == peers.Cards {
			return p
		}
	}
	l.t.Fatalf("no stream of cards in %+v", all)
	return peers.Progress{}
}

func TestAHistoryIsOnlyExtendedWhoeverTellsIt(t *testing.T) {
	l := newLearner(t, 2)
	n := l.node()
	young := n.Key
	l.peer(2).Agent(n, 1, l.clock.now(), "old.word")
	l.pull()
	n.Rotate(l.clock.now())
	l.peer(1).Agent(n, 2, l.clock.now(), "new.word")
	l.pull()
	l.wants("the newer word", "new.word", n)
	l.wants("the older word", "old.word")

	rotated := n.Key
	n.Key = young
	_, err := l.tryRegister(n, n.Register("thief", "x"))
	wantReason(t, "with the history of then", err, "kel_rollback")
	n.Key = rotated
	l.peer(1).Withdraw(n.AID(), l.clock.now())
	l.pull()
	l.wants("a word under a key that was given up", "old.word")
	l.register(n, n.Register("owner", "x"))
	l.wants("with the history of now", "x", n)
	l.whole()
}

func TestWhoseWordCountsOfTwoTeachers(t *testing.T) {
	l := newLearner(t, 2)
	a, b, at := l.node(), l.node(), l.clock.now()
	l.peer(1).Agent(a, 1, at, "first")
	l.peer(2).Agent(b, 3, at, "second")
	l.pull()
	l.peer(1).Agent(b, 3, at, "second")
	l.peer(2).Agent(a, 2, l.clock.now(), "newer")
	l.pull()
	l.wants("a newer card", "newer", a)
	l.wants("an older one", "first")
	if got := l.row(`SELECT peer_id::text FROM learned WHERE aid = $1 AND shown`, b.AID()); got != fmt.Sprint(l.list[1].ID) {
		t.Errorf("of two alike %s is shown, want the first", got)
	}
	if err := forget(t.Context(), l.pool, l.list[1].ID, l.clock.now()); err != nil {
		t.Fatal(err)
	}
	l.wants("when its teacher is gone", "newer")
	l.wants("the next teacher's", "first", a)
	l.wants("the next teacher's, alike", "second", b)
	if got := l.row(`SELECT card_seq::text FROM known_elsewhere WHERE aid = $1`, a.AID()); got != "2" {
		t.Errorf("the mark is %s, want it to stay", got)
	}
	if got := l.row(`SELECT agents || ' ' || bytes FROM teacher WHERE peer_id = $1`, l.list[1].ID); got != "0 0" {
		t.Errorf("what the peer taught comes to %s", got)
	}
	l.whole()
}

func TestAWithdrawalIsItsTeachersAlone(t *testing.T) {
	l := newLearner(t, 2)
	n, at := l.node(), l.clock.now()
	l.peer(1).Agent(n, 1, at, "x")
	l.peer(1).Older(n, 1, at)
	l.pull()
	l.peer(2).Withdraw(n.AID(), l.clock.now())
	l.pull()
	l.wants("withdrawn by who did not tell", "x", n)
	l.peer(1).Withdraw(n.AID(), l.clock.now())
	l.pull()
	l.wants("withdrawn by its teacher", "x")
	if got := l.row(`SELECT count(*)::text FROM learned WHERE aid = $1 AND stream = 'cards'`, n.AID()); got != "0" {
		t.Errorf("%s rows are left", got)
	}
	l.peer(1).Agent(n, 1, at, "x")
	l.pull()
	l.wants("told again", "x", n)
	l.whole()
}

func TestAReadingFromTheBeginningForgetsWhatIsNotToldAnyMore(t *testing.T) {
	l := newLearner(t, 1)
	stays, goes := l.node(), l.node()
	l.peer(1).Agent(stays, 1, l.clock.now(), "x")
	l.pull()
	l.peer(1).Agent(goes, 1, l.clock.now(), "x")
	l.pull()
	l.peer(1).Hush(learnedtest.Cards, goes.AID())
	l.pull()
	l.wants("before", "x", stays, goes)
	for range 15 {
		l.pull()
	}
	l.wants("after fifteen rounds", "x", stays)
	asked := l.peer(1).Asked()
	if n := len(slices.DeleteFunc(asked, func(s string) bool { return s != learnedtest.Cards+" 0" })); n != 2 {
		t.Errorf("the stream was read %d times from the beginning, want twice in 18 rounds", n)
	}
	l.whole()
}

func TestWhoIsBlockedHereIsInNoList(t *testing.T) {
	l := newLearner(t, 1)
	o := l.operator()
	n := l.node()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(o.block("aid", n.AID(), 0))
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	l.wants("blocked before", "x")
	must(o.unblock("aid", n.AID()))
	l.wants("unblocked", "x", n)
	must(o.block("aid", n.AID(), 0))
	l.wants("blocked since", "x")
	l.whole()
}

func TestListsShowWhatHoldsForItsTeacher(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	change := func(f func(p *peers.Peer)) { f(&l.list[0]); l.judge() }
	change(func(p *peers.Peer) { p.Paused = true })
	l.wants("paused", "x", n)
	change(func(p *peers.Peer) { p.Paused, p.Discovery = false, false })
	l.wants("not learned from", "x")
	change(func(p *peers.Peer) { p.Discovery = true })
	l.wants("learned from again", "x", n)
	l.off = true
	l.judge()
	l.wants("where nothing is learned", "x")
	l.off = false
	l.judge()
	l.peer(1).Answer(learnedtest.Fails)
	l.clock.advance(29 * 24 * time.Hour)
	l.pull()
	l.judge()
	l.wants("silent for 29 days", "x", n)
	l.clock.advance(2 * 24 * time.Hour)
	l.judge()
	l.wants("silent for 31 days", "x")
	l.peer(1).Answer(nil)
	l.pull()
	l.judge()
	l.wants("back", "x", n)
	l.whole()
}

// The real table of peers has discovery on for nobody then, and off for nobody.
func TestAPauseOfTheOnlyPeerKeepsWhatItTaught(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	for _, switches := range []peers.Switches{{}, {Discovery: peers.On}, {Discovery: peers.Off}} {
		l.row(`UPDATE peer SET paused = true RETURNING 'paused'`)
		table := peers.NewTable(NewPeers(l.pool), switches, slog.New(slog.DiscardHandler))
		if err := table.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.puller.Peers = table
		l.judge()
		if switches.Discovery == peers.Off {
			l.wants("off", "x")
		} else {
			l.wants("paused", "x", n)
		}
	}
}

func TestAReviewMovesAnAgentOfAnotherHub(t *testing.T) {
	l := newLearner(t, 1)
	j := &jury{l.hub, reviews.New(NewReviews(l.pool), l.store, identity.Replay, l.clock.now)}
	rated, plain, requester := l.node(), l.node(), j.member("ours")
	l.peer(1).Agent(plain, 1, l.clock.now(), "x")
	l.pull()
	l.peer(1).Agent(rated, 1, l.clock.now(), "x")
	l.pull()
	l.wants("unrated", "x", plain, rated)
	j.mustReview(rated, requester, 5, 4)
	l.wants("rated", "x", rated, plain)
	if v, _, err := l.Show(t.Context(), rated.AID()); err != nil || v.ReviewCount != 2 || v.AvgRating != 4.5 {
		t.Errorf("shown as %+v, %v", v, err)
	}
	if r, err := j.reviews.Reputation(t.Context(), rated.AID()); err != nil || r.Local != (wire.ReviewSource{Reviews: 2, AvgRating: 4.5}) {
		t.Errorf("its reputation is %+v, %v, want what was said here as ours", r, err)
	}
	l.peer(1).Agent(rated, 2, l.clock.now(), "x", "y")
	l.pull()
	l.wants("told anew", "x", rated, plain)
	l.whole()
	l.register(rated, rated.Register("rated", "x"))
	if v := l.viewOf(rated); v.ReviewCount != 2 || v.AvgRating != 4.5 || !v.Registered {
		t.Errorf("registered here it is %+v", v)
	}
	l.whole()
}

func (l *learner) viewOf(n *directorytest.Node) wire.Agent {
	l.t.Helper()
	v, _, err := l.Show(l.t.Context(), n.AID())
	if err != nil {
		l.t.Fatal(err)
	}
	return v
}

func TestAStreamIsReadOnceOverAllProcesses(t *testing.T) {
	l := newLearner(t, 2)
	now := l.clock.now()
	if err := l.learns.Enroll(t.Context(), []int64{l.list[0].ID, l.list[1].ID}, now); err != nil {
		t.Fatal(err)
	}
	lease := func(ids ...int64) []learned.Job {
		jobs, err := l.learns.Lease(t.Context(), ids, 16, l.clock.now())
		if err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	jobs := lease(l.list[0].ID, l.list[1].ID)
	if len(jobs) != 2 || jobs[0].Peer == jobs[1].Peer {
		t.Fatalf("leased %+v, want one stream of each", jobs)
	}
	if again := lease(l.list[0].ID, l.list[1].ID); len(again) != 0 {
		t.Errorf("leased %+v while others are read", again)
	}
	l.clock.advance(2 * time.Minute)
	taken := lease(jobs[0].Peer)
	if len(taken) != 1 {
		t.Fatalf("leased %+v after its holder died", taken)
	}
	late := func(context.Context) error {
		return l.learns.Learn(t.Context(), jobs[0], nil, l.clock.now(), func(map[string]learned.Record, learned.Room) learned.Lesson {
			return learned.Lesson{ReadTo: 99}
		})
	}
	if taken[0].Stream == jobs[0].Stream {
		wantReason(t, "the holder that was thought dead", late(t.Context()), "lease_lost")
	}
}

func TestWhyAnAgentOfAnotherHubIsListedOrNot(t *testing.T) {
	l := newLearner(t, 1)
	o, n := l.operator(), l.node()
	gate := func(why, capID, want string) {
		t.Helper()
		v, err := l.Why(t.Context(), n.AID(), capID)
		if err != nil || v.Gate != want || v.Listed != (want == "") {
			t.Errorf("%s: gate %q, listed %v, %v, want %q", why, v.Gate, v.Listed, err, want)
		}
	}
	gate("before anybody told of it", "", "known")
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	gate("told", "x", "")
	gate("at what it does not offer", "y", "capability")
	l.list[0].Discovery = false
	l.judge()
	gate("its peer is not learned from", "", "peer")
	l.list[0].Discovery = true
	l.judge()
	if err := o.block("aid", n.AID(), 0); err != nil {
		t.Fatal(err)
	}
	gate("blocked", "", "blocked")
}

func TestReviewsOfPeersAreCountedBesideOurs(t *testing.T) {
	l := newLearner(t, 2)
	judges := reviews.New(NewReviews(l.pool), l.store, identity.Replay, l.clock.now)
	provider, requester, ours, old := l.node(), l.node(), l.node(), l.node()
	l.register(provider, provider.Register("p", "x"))
	l.register(ours, ours.Register("r", "y"))
	tell := func(peer int, w *reviewtest.Work, provider, requester []byte) {
		receipt, word := w.Sign(t)
		l.peer(peer).Tell(learnedtest.Reviews, w.Interaction, wire.FedReview{Receipt: receipt, Review: word, ProviderKEL: provider, ReviewerKEL: requester})
	}
	done := func(rating int) *reviewtest.Work {
		return reviewtest.Done(provider.Key, requester.Key, rating, l.clock.now())
	}
	pk, rk := provider.Key.KEL(), requester.Key.KEL()
	both := reviewtest.Done(provider.Key, ours.Key, 4, l.clock.now())
	receipt, word := both.Sign(t)
	if _, err := judges.Accept(t.Context(), receipt, word); err != nil {
		t.Fatal(err)
	}
	same := done(5)
	tell(1, same, pk, rk)
	tell(2, same, pk, rk)
	tell(1, both, pk, ours.Key.KEL())
	tell(1, done(2), pk, rk)
	tell(2, done(1).By(ours.Key, requester.Key), pk, rk)
	tell(2, done(1).By(provider.Key, ours.Key), pk, rk)
	tell(2, done(1), pk, nil)
	tell(2, done(1), rk, rk)
	thief := old.Key
	old.Rotate(l.clock.now())
	l.register(old, old.Register("rotated", "z"))
	l.clock.advance(time.Minute)
	tell(2, reviewtest.Done(provider.Key, thief, 1, l.clock.now()), pk, thief.KEL())
	l.pull()
	r, err := judges.Reputation(t.Context(), provider.AID())
	if err != nil || r.Local.Reviews != 1 || len(r.Peers) != 1 || r.Peers[0].Reviews != 2 || r.Peers[0].AvgRating != 3.5 ||
		r.Peers[0].Hub != l.list[0].Endpoint || r.Combined.Reviews != 3 {
		t.Errorf("reputation %+v, %v, want one review of ours and two of the first peer", r, err)
	}
	if got := l.row(`SELECT sum(refused)::text FROM pull WHERE stream = 'reviews'`); got != "5" {
		t.Errorf("%s reviews were refused, want those five that do not verify", got)
	}
	if v := l.viewOf(provider); v.ReviewCount != 1 {
		t.Errorf("peers' reviews move an agent in our lists: %+v", v)
	}
	l.whole()
}

func TestWhatAPeerTaughtGoesWithIt(t *testing.T) {
	for why, remove := range map[string]func(l *learner) error{
		"by a command": func(l *learner) error {
			return NewPeers(l.pool).Remove(t.Context(), l.list[0].ID, alice.Did("peer.remove", "p1", l.clock.now()))
		},
		"taken out of the file": func(l *learner) error {
			_, err := NewPeers(l.pool).Sync(t.Context(), nil, alice.Did("peer.file", "", l.clock.now()))
			return err
		},
	} {
		l := newLearner(t, 1)
		if _, err := l.pool.Exec(t.Context(), `UPDATE peer SET from_file = true`); err != nil {
			t.Fatal(err)
		}
		n, requester, provider := l.node(), l.node(), l.node()
		l.peer(1).Agent(n, 1, l.clock.now(), "x")
		receipt, word := reviewtest.Done(provider.Key, requester.Key, 3, l.clock.now()).Sign(t)
		l.peer(1).Tell(learnedtest.Reviews, "r", wire.FedReview{Receipt: receipt, Review: word, ProviderKEL: provider.Key.KEL(), ReviewerKEL: requester.Key.KEL()})
		l.pull()
		l.wants("before", "x", n)
		if err := remove(l); err != nil {
			t.Errorf("%s: %v", why, err)
		}
		l.wants(why, "x")
		if got := l.row(`SELECT (SELECT count(*) FROM peer) || ' ' || (SELECT count(*) FROM learned) || ' ' || (SELECT count(*) FROM learned_review) || ' ' || (SELECT count(*) FROM known_elsewhere)`); got != "0 0 0 1" {
			t.Errorf("%s: peers, agents, reviews and marks that are left: %s", why, got)
		}
		l.whole()
	}
}
