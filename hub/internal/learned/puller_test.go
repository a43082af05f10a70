package learned

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/shared/errs"
)

func TestFirstReadingsAreCloseAndLaterOnesRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 1)
		defer s.end()
		time.Sleep(30 * time.Second)
		if n := len(s.asked(1)); n < 3 || n > 5 {
			t.Errorf("read %d times in the first half minute, want 3 to 5", n)
		}
		time.Sleep(10 * time.Minute)
		s.asked(1)
		time.Sleep(20 * time.Minute)
		if n := len(s.asked(1)); n < 8 || n > 13 {
			t.Errorf("read %d times in twenty quiet minutes, want about one in two minutes", n)
		}
		n := directorytest.NewNode(t, time.Now())
		s.peer(1).Agent(n, 1, time.Now(), "x")
		for i := 0; !s.has(n); i++ {
			if time.Sleep(time.Second); i > 150 {
				t.Fatal("what is new was not read within two minutes and a half")
			}
		}
		s.asked(1)
		time.Sleep(25 * time.Second)
		if n := len(s.asked(1)); n < 2 {
			t.Errorf("read %d times in the 25 seconds after something was new", n)
		}
	})
}

func TestEveryFifteenthRoundBeginsAtTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 1)
		defer s.end()
		s.peer(1).Agent(directorytest.NewNode(t, time.Now()), 1, time.Now(), "x")
		time.Sleep(75 * time.Minute)
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, o := range s.ended["1 cards"] {
			if o.Again != ((i+1)%15 == 0) {
				t.Errorf("after round %d the next begins at the beginning: %v", i+1, o.Again)
			}
		}
		if n := len(s.ended["1 cards"]); n < 31 {
			t.Errorf("%d rounds in 75 minutes", n)
		}
	})
}

// Of five peers one is well: it is read as if it were alone.
func TestABadPeerHoldsUpItselfAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 5)
		defer s.end()
		s.peer(2).Answer(func(ctx context.Context, _ string) (int, []byte, error) { <-ctx.Done(); return 0, nil, ctx.Err() })
		s.peer(3).Answer(learnedtest.Fails)
		s.peer(4).Answer(learnedtest.Status(500))
		s.peer(5).Answer(func(context.Context, string) (int, []byte, error) {
			return 200, []byte(`{"cursor":1,"cards":[{"format":"x"}],"reviews":[1]}`), nil
		})
		n := directorytest.NewNode(t, time.Now())
		s.peer(1).Agent(n, 1, time.Now(), "x")
		time.Sleep(10 * time.Second)
		if !s.has(n) {
			t.Error("the healthy peer was not read within ten seconds")
		}
		time.Sleep(20 * time.Minute)
		for i := 2; i <= 4; i++ {
			if n := len(s.asked(i)); n < 5 || n > 25 {
				t.Errorf("peer %d was asked %d times in twenty minutes, want it left alone and not forgotten", i, n)
			}
		}
		back := directorytest.NewNode(t, time.Now())
		s.peer(3).Answer(nil)
		s.peer(3).Agent(back, 1, time.Now(), "x")
		time.Sleep(3 * time.Minute)
		if !s.has(back) {
			t.Error("a peer that is back was not read within three minutes")
		}
	})
}

// A peer that says when to come again is left alone until then, within reason.
func TestAPeerThatAsksForTimeIsGivenIt(t *testing.T) {
	for wants, most := range map[time.Duration]int{time.Minute: 15, 5 * time.Minute: 4, 24 * time.Hour: 3} {
		synctest.Test(t, func(t *testing.T) {
			s := newStreet(t, 1)
			defer s.end()
			s.peer(1).Answer(func(context.Context, string) (int, []byte, error) {
				return 0, nil, errs.New(errs.Unavailable, "peer_busy", "later").After(wants)
			})
			time.Sleep(15 * time.Minute)
			if n := len(s.asked(1)); n < 2 || n > most {
				t.Errorf("asked to wait for %s, it was asked %d times in a quarter of an hour, want 2 to %d", wants, n, most)
			}
		})
	}
}

func TestAPeerWithoutAStreamIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 1)
		defer s.end()
		s.peer(1).Answer(learnedtest.Status(404))
		time.Sleep(10 * time.Minute)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, o := range s.ended["1 cards"] {
			if o.Failure != "" || !o.End {
				t.Errorf("a round ended as %+v", o)
			}
		}
	})
}

func TestAHeldEntryIsAskedForAgainAndHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 1)
		defer s.end()
		held, behind := directorytest.NewNode(t, time.Now()), directorytest.NewNode(t, time.Now())
		s.learned[held.AID()] = Record{Registered: true}
		s.peer(1).Agent(held, 1, time.Now(), "x")
		s.peer(1).Agent(behind, 1, time.Now(), "x")
		time.Sleep(time.Minute)
		if !s.has(behind) || s.has(held) {
			t.Errorf("learned what is held: %v, what stands behind it: %v", s.has(held), s.has(behind))
		}
		s.mu.Lock()
		s.learned[held.AID()] = Record{}
		s.mu.Unlock()
		time.Sleep(3 * time.Minute)
		if !s.has(held) {
			t.Error("who left was not learned with the next round")
		}
	})
}

// A peer whose stream has no end is read in turns.
func TestAnEndlessStreamIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 1)
		defer s.end()
		n := 0
		s.peer(1).Answer(func(context.Context, string) (int, []byte, error) {
			time.Sleep(time.Second)
			n++
			return 200, fmt.Appendf(nil, `{"cursor":%d,"cards":[{"format":"x"}],"reviews":[1]}`, n), nil
		})
		time.Sleep(10 * time.Minute)
		s.mu.Lock()
		defer s.mu.Unlock()
		turns := len(s.ended["1 cards"]) + len(s.ended["1 adp-cards"]) + len(s.ended["1 reviews"])
		if turns < 4 || len(s.ended["1 reviews"]) == 0 {
			t.Errorf("%d turns in ten minutes, %d of them of reviews", turns, len(s.ended["1 reviews"]))
		}
	})
}

// Where a hub may tell nobody of many in a row, its page is empty and moves on.
func TestAnEmptyPageThatMovesOnIsNotTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 1)
		defer s.end()
		hidden, n := directorytest.NewNode(t, time.Now()), directorytest.NewNode(t, time.Now())
		s.peer(1).Agent(hidden, 1, time.Now(), "x")
		s.peer(1).Agent(n, 1, time.Now(), "x")
		s.peer(1).Answer(func(_ context.Context, path string) (int, []byte, error) {
			if path != learnedtest.Cards {
				return 200, []byte(`{}`), nil
			}
			s.peer(1).Answer(nil)
			return 200, []byte(`{"cursor":1,"cards":[]}`), nil
		})
		time.Sleep(4 * time.Second) // for one reading of each stream
		if !s.has(n) || s.has(hidden) {
			t.Errorf("who stands behind the gap was not learned of: %v", s.peer(1).Asked())
		}
	})
}

// However fast a peer answers, pages of nothing are not written as fast.
func TestPagesOfNothingAreReadAtLeisure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, 1)
		defer s.end()
		var asked atomic.Int64
		s.peer(1).Answer(func(context.Context, string) (int, []byte, error) {
			n := asked.Add(1)
			if n > 1000 {
				return 0, nil, errors.New("it was asked a thousand times")
			}
			return 200, fmt.Appendf(nil, `{"cursor":%d,"cards":[],"reviews":[]}`, n), nil
		})
		time.Sleep(11 * time.Second)
		if n := asked.Load(); n < 50 || n > 110 {
			t.Errorf("it was asked %d times in ten seconds", n)
		}
	})
}
