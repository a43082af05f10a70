// Package rounds strikes what stands on a stage at random moments, round after
// round, while calls and streams of other things are on their way, and looks after
// each round what became of all of them.
//
// The one rule: what is random comes from the dice, and what the dice began with is
// said, so that rounds can be played again. Tests of this package's users take two
// flags:
//
//	go test ./e2e/kill -rounds 100 -seed 7
package rounds

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

var (
	count = flag.Int("rounds", 0, "how many rounds; 0 takes as many as the story does by itself")
	seed  = flag.Uint64("seed", 0, "of what is random; 0 takes another one each time")
)

// Limit is how long all may take to end after the last blow of a round.
const Limit = stage.Patience

// Dice are what a story throws.
func Dice(t *testing.T) *rand.Rand {
	t.Helper()
	n := *seed
	if n == 0 {
		n = rand.Uint64N(1_000_000) + 1
	}
	t.Logf("thrown with -seed %d", n)
	return rand.New(rand.NewPCG(n, n))
}

// Blow is something that can be struck and mended.
type Blow struct {
	Name   string
	Strike func()
	Mend   func()
}

// Stream is what flows beside the calls while a round goes on.
type Stream interface {
	Begin(t *testing.T)
	End(t *testing.T)
	Check(t *testing.T) // once everything is mended
}

// Story is what rounds are played of.
type Story struct {
	Dice    *rand.Rand
	Calls   *Calls
	Streams []Stream
	Blows   []Blow
	Revive  func() // brings back what is still down

	struck map[string]int
}

// Play plays the rounds: usual many, where nobody asked for another number.
func (s *Story) Play(t *testing.T, usual int) {
	t.Helper()
	if *count > 0 {
		usual = *count
	}
	s.struck = map[string]int{}
	start := time.Now()
	for n := range usual {
		begun := time.Now()
		struck := s.round(t)
		t.Logf("round %d: %s; over after %s", n+1, strings.Join(struck, ", "), time.Since(begun).Round(time.Millisecond))
		if t.Failed() {
			t.Fatalf("round %d failed", n+1)
		}
	}
	t.Logf("%d rounds in %s: %v; outcomes %v", usual, time.Since(start).Round(time.Second), s.struck, s.Calls.outcomes)
}

// round starts calls and streams, strikes what the dice say, brings everything back
// and looks at what became of it.
func (s *Story) round(t *testing.T) (struck []string) {
	t.Helper()
	for _, flows := range s.Streams {
		flows.Begin(t)
	}
	s.Calls.begin()
	for range 1 + s.Dice.IntN(3) {
		time.Sleep(time.Duration(s.Dice.IntN(400)) * time.Millisecond)
		struck = append(struck, s.strike())
	}
	s.Calls.end()
	s.Revive()
	for _, flows := range s.Streams {
		flows.End(t)
	}
	s.Calls.check(t)
	for _, flows := range s.Streams {
		flows.Check(t)
	}
	return struck
}

// strike mends what it struck at once, or leaves that to the end of the round.
func (s *Story) strike() string {
	blow := s.Blows[s.Dice.IntN(len(s.Blows))]
	blow.Strike()
	s.struck[blow.Name]++
	if s.Dice.IntN(2) == 0 {
		blow.Mend()
		return blow.Name + " (back at once)"
	}
	return blow.Name
}
