package reviews

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

var start = time.UnixMilli(1_767_225_600_000).UTC()

// memory is a store of one agent's reviews, and the agents.
type memory struct {
	Store
	kept       map[string]Review
	registered map[string][]byte
	departed   map[string][]byte
}

func key(r Review) string { return r.Word.Interaction + " " + r.Word.Subject + " " + r.Word.Reviewer }

func (m *memory) Reviewed(_ context.Context, r Review) (bool, error) {
	_, is := m.kept[key(r)]
	return is, nil
}

func (m *memory) Put(_ context.Context, r Review, _ time.Time) error {
	m.kept[key(r)] = r
	return nil
}

func (m *memory) SignerKEL(_ context.Context, v moderation.Visitor) ([]byte, error) {
	return orMissing(m.registered[v.AID])
}

func (m *memory) KnownKEL(_ context.Context, aid string) ([]byte, error) {
	if kel, left := m.departed[aid]; left {
		return kel, nil
	}
	return orMissing(m.registered[aid])
}

func orMissing(kel []byte) ([]byte, error) {
	if kel == nil {
		return nil, errs.New(errs.NotFound, "agent_unknown", "nobody")
	}
	return kel, nil
}

// square is a hub with two members, one who left, and a stranger.
type square struct {
	*Reviews
	store               *memory
	provider, requester *identity.Controller
	left, stranger      *identity.Controller
	replays             int
}

func newSquare(t testing.TB) *square {
	s := &square{store: &memory{kept: map[string]Review{}, registered: map[string][]byte{}, departed: map[string][]byte{}}}
	for _, who := range []**identity.Controller{&s.provider, &s.requester, &s.left, &s.stranger} {
		c, err := identity.NewController(rand.Reader, start.Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		*who = c
	}
	s.store.registered[s.provider.AID()], s.store.registered[s.requester.AID()] = s.provider.KEL(), s.requester.KEL()
	s.store.departed[s.left.AID()] = s.left.KEL()
	s.Reviews = New(s.store, s.store, func(kel []byte) (*identity.History, error) {
		s.replays++
		return identity.Replay(kel)
	}, func() time.Time { return start })
	return s
}

func (s *square) done() *reviewtest.Work { return reviewtest.Done(s.provider, s.requester, 4, start) }

// Number 43: each refusal of I.7 that needs no database, with its code.
func TestAcceptRefuses(t *testing.T) {
	s := newSquare(t)
	friend := rotated(t, s.requester)
	for _, c := range []struct {
		why, want string
		work      *reviewtest.Work
	}{
		{"a rating of none", "rating_out_of_range", s.done().With(func(w *reviewtest.Work) { w.Word.Rating = 0 })},
		{"a rating of six", "rating_out_of_range", s.done().With(func(w *reviewtest.Work) { w.Word.Rating = 6 })},
		{"281 characters", "comment_too_long", s.done().With(func(w *reviewtest.Work) { w.Word.Comment = strings.Repeat("é", 281) })},
		{"no interaction", "review_malformed", s.done().With(func(w *reviewtest.Work) { w.Word.Interaction, w.Interaction = "", "" })},
		{"an interaction of 257 bytes", "review_malformed", s.done().With(func(w *reviewtest.Work) {
			w.Interaction = strings.Repeat("i", 257)
			w.Word.Interaction = w.Interaction
		})},
		{"a zero byte", "review_malformed", s.done().With(func(w *reviewtest.Work) { w.Word.Interaction, w.Interaction = "a\x00", "a\x00" })},
		{"a subject that is no AID", "review_malformed", s.done().With(func(w *reviewtest.Work) { w.Word.Subject = "bob" })},
		{"a content id that is a novel", "receipt_malformed", s.done().With(func(w *reviewtest.Work) { w.ResultCID = strings.Repeat("b", 129) })},
		{"itself", "review_of_self", reviewtest.Done(s.provider, s.provider, 5, start)},
		{"a reviewer who is a stranger", "reviewer_unknown", reviewtest.Done(s.provider, s.stranger, 5, start)},
		{"a reviewer who left", "reviewer_unknown", reviewtest.Done(s.provider, s.left, 5, start)},
		{"a provider nobody knows", "provider_unknown", reviewtest.Done(s.stranger, s.requester, 1, start)},
		{"a receipt by somebody else", "receipt_bad_signature", s.done().By(s.stranger, s.requester)},
		{"a review by somebody else", "review_bad_signature", s.done().By(s.provider, s.stranger)},
		{"a review under a key state to come", "review_bad_signature", s.done().By(s.provider, friend)},
		{"another interaction", "review_other_interaction", s.done().With(func(w *reviewtest.Work) { w.Word.Interaction = "ix_other" })},
		{"not the requester", "reviewer_not_requester", s.done().With(func(w *reviewtest.Work) { w.Requester = s.stranger.AID() })},
		{"not the provider", "subject_not_provider", s.done().With(func(w *reviewtest.Work) { w.Provider = s.left.AID() })},
		{"another receipt", "review_other_receipt", s.done().With(func(w *reviewtest.Work) { w.Word.ReceiptCID = codec.CID([]byte("x")) })},
	} {
		receipt, word := c.work.Sign(t)
		_, err := s.Accept(t.Context(), receipt, word)
		if errs.KindOf(err) != errs.Invalid || !errs.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
	if len(s.store.kept) != 0 {
		t.Errorf("%d refused reviews are stored", len(s.store.kept))
	}
}

func TestAcceptRefusesWhatIsNoSignedObject(t *testing.T) {
	s := newSquare(t)
	receipt, word := s.done().Sign(t)
	for _, c := range []struct {
		why, want     string
		receipt, word []byte
	}{
		{"no CBOR", "receipt_malformed", []byte("x"), word},
		{"trailing bytes", "receipt_malformed", append(append([]byte{}, receipt...), 0), word},
		{"a receipt for a review", "review_malformed", receipt, receipt},
		{"no review", "review_malformed", receipt, []byte{0xa0}},
	} {
		if _, err := s.Accept(t.Context(), c.receipt, c.word); !errs.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}

func TestAcceptTakes(t *testing.T) {
	s := newSquare(t)
	for _, c := range []struct {
		why  string
		work *reviewtest.Work
	}{
		{"the best", s.done().With(func(w *reviewtest.Work) { w.Word.Rating = 5 })},
		{"the worst", s.done().With(func(w *reviewtest.Work) { w.Word.Rating = 1 })},
		{"280 characters, whatever their bytes", s.done().With(func(w *reviewtest.Work) { w.Word.Comment = strings.Repeat("世", 280) })},
		{"a provider who left", reviewtest.Done(s.left, s.requester, 1, start)},
	} {
		receipt, word := c.work.Sign(t)
		if _, err := s.Accept(t.Context(), receipt, word); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if _, err := s.Accept(t.Context(), receipt, word); !errs.Is(err, "interaction_reviewed") {
			t.Errorf("%s, once more: %v, want interaction_reviewed", c.why, err)
		}
	}
}

// A provider knows the id of every work it does. A review by a friend under that
// id must not keep the requester from its own.
func TestAFriendCannotUseUpAnInteraction(t *testing.T) {
	s := newSquare(t)
	s.store.registered[s.stranger.AID()] = s.stranger.KEL()
	for _, reviewer := range []*identity.Controller{s.stranger, s.requester} {
		receipt, word := reviewtest.DoneAs("ix_one", s.provider, reviewer, 5, start).Sign(t)
		if _, err := s.Accept(t.Context(), receipt, word); err != nil {
			t.Errorf("review by %.12s: %v", reviewer.AID(), err)
		}
	}
}

// A key signs for its own time: what it signed before it was superseded holds,
// what it signs afterwards does not (A.4, B.2).
func TestAcceptJudgesKeysByTheirTime(t *testing.T) {
	s := newSquare(t)
	old := [2]*identity.Controller{s.provider, s.requester}
	s.provider, s.requester = rotated(t, s.provider), rotated(t, s.requester)
	s.store.registered[s.provider.AID()], s.store.registered[s.requester.AID()] = s.provider.KEL(), s.requester.KEL()
	before, after := start.Add(-time.Minute), start.Add(time.Minute)
	for _, c := range []struct {
		why                 string
		provider, requester *identity.Controller
		done, said          time.Time
		want                string
	}{
		{"all by the old keys, before", old[0], old[1], before, before, ""},
		{"the review by the new one", old[0], s.requester, before, after, ""},
		{"all by the new ones", s.provider, s.requester, after, after, ""},
		{"a receipt by the old key, after", old[0], s.requester, after, after, "receipt_bad_signature"},
		{"a review by the old key, after", s.provider, old[1], after, after, "review_bad_signature"},
	} {
		w := reviewtest.Done(c.provider, c.requester, 3, c.done)
		w.Word.CreatedAt = uint64(c.said.UnixMilli())
		receipt, word := w.Sign(t)
		if _, err := s.Accept(t.Context(), receipt, word); (err == nil) != (c.want == "") || err != nil && !errs.Is(err, c.want) {
			t.Errorf("%s: %v, want %q", c.why, err, c.want)
		}
	}
}

func rotated(t *testing.T, c *identity.Controller) *identity.Controller {
	t.Helper()
	next, err := c.Rotate(rand.Reader, start)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// Number 7: who signs nothing has no history replayed.
func TestABadSignatureIsNotReplayed(t *testing.T) {
	s := newSquare(t)
	receipt, word := s.done().By(s.stranger, s.stranger).Sign(t)
	if _, err := s.Accept(t.Context(), receipt, word); err == nil || s.replays != 0 {
		t.Errorf("%v, after %d replays, want a refusal after none", err, s.replays)
	}
}

// What is kept is what was signed, without what else travelled with it.
func TestWhatIsKeptIsCanonical(t *testing.T) {
	s := newSquare(t)
	receipt, word := s.done().Sign(t)
	signed, err := evidence.ParseReceipt(receipt)
	if err != nil {
		t.Fatal(err)
	}
	signed.Env.Ref = strings.Repeat("x", 10_000)
	padded, err := codec.Marshal(signed.Signed)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Accept(t.Context(), padded, word)
	if err != nil {
		t.Fatal(err)
	}
	gotReceipt, gotWord, err := kept.Encode()
	if err != nil || string(gotReceipt) != string(receipt) || string(gotWord) != string(word) {
		t.Errorf("kept %d and %d bytes, want %d and %d; %v", len(gotReceipt), len(gotWord), len(receipt), len(word), err)
	}
}

func TestReputation(t *testing.T) {
	for _, c := range []struct {
		why           string
		local         directory.Rating
		peers         []directory.Rating
		reviews       int64
		avg           float64
		concentration float64
	}{
		{"nobody said anything", directory.Rating{}, nil, 0, 0, 0},
		{"one hub", directory.Rating{Sum: 14, Count: 3}, nil, 3, 4.67, 1},
		{"a peer alone", directory.Rating{}, []directory.Rating{{Sum: 4, Count: 1}}, 1, 4, 1},
		{"two hubs", directory.Rating{Sum: 15, Count: 3}, []directory.Rating{{Sum: 1, Count: 1}}, 4, 4, 0.75},
		{"half up", directory.Rating{Sum: 1001, Count: 200}, nil, 200, 5.01, 1},
	} {
		var peers []wire.ReviewSource
		for _, p := range c.peers {
			peers = append(peers, source("hub", p))
		}
		got := reputation("aid", source("", c.local), peers...)
		if got.Combined.Reviews != c.reviews || got.Combined.AvgRating != c.avg || got.Concentration != c.concentration || got.Peers == nil {
			t.Errorf("%s: %+v, want %d reviews, %v, concentration %v", c.why, got, c.reviews, c.avg, c.concentration)
		}
	}
}

func TestBetween(t *testing.T) {
	list := []Edge{{1, "a", "b", 5}, {2, "a", "c", 5}, {3, "b", "a", 5}}
	shown := func(aid string) bool { return aid != "c" }
	if got, end := Between(list, true, shown); len(got) != 1 || end {
		t.Errorf("%v, end %v, want the first alone", got, end)
	}
	if got, end := Between(list, true, func(string) bool { return true }); len(got) != 3 || !end {
		t.Errorf("%v, end %v, want all", got, end)
	}
}

func FuzzAccept(f *testing.F) {
	s := newSquare(f)
	receipt, word := s.done().Sign(f)
	f.Add(receipt, word)
	f.Add(word, receipt)
	f.Fuzz(func(t *testing.T, receipt, word []byte) {
		s.store.kept = map[string]Review{}
		r, err := s.Accept(t.Context(), receipt, word)
		if errs.KindOf(err) != errs.Invalid && err != nil {
			t.Fatalf("a refusal of its own: %v", err)
		}
		if err != nil {
			return
		}
		if r.Word.Reviewer != s.requester.AID() || r.Word.Subject != s.provider.AID() {
			t.Fatalf("accepted %+v", r)
		}
	})
}
