package admission

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func TestTake(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	l := NewLimiter(10, 3, "register_rate", c.now)
	for i := range 3 {
		if err := l.Take("a"); err != nil {
			t.Fatalf("token %d of the burst: %v", i+1, err)
		}
	}
	err := errs.As(l.Take("a"))
	if err == nil || err.Kind != errs.TooMany || err.Reason != "register_rate" {
		t.Fatalf("beyond the burst: %v, want too many", err)
	}
	if err.RetryAfter != 6*time.Second {
		t.Errorf("retry after %v, want 6s at ten a minute", err.RetryAfter)
	}
	if err := l.Take("b"); err != nil {
		t.Errorf("another key pays for the first: %v", err)
	}
	c.t = c.t.Add(err.RetryAfter)
	if err := l.Take("a"); err != nil {
		t.Errorf("after the time named: %v", err)
	}
	if err := l.Take("a"); err == nil {
		t.Error("a refused request brought a token forward")
	}
}

func TestFullBucketsAreForgotten(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	l := NewLimiter(60, 5, "r", c.now)
	for i := range 1000 {
		_ = l.Take(fmt.Sprint(i))
	}
	c.t = c.t.Add(2 * time.Minute)
	_ = l.Take("one more")
	if n := len(l.buckets); n != 1 {
		t.Errorf("%d buckets are kept, want 1", n)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	l := NewLimiter(1, 1, "r", c.now)
	for i := range maxBuckets + 10 {
		_ = l.Take(fmt.Sprint(i))
	}
	if n := len(l.buckets); n > maxBuckets {
		t.Errorf("%d buckets are kept, want at most %d", n, maxBuckets)
	}
}

func TestPeekTakesNothing(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	l := NewLimiter(1200, 1, "r", c.now)
	for range 3 {
		if err := l.Peek("a"); err != nil || len(l.buckets) != 0 {
			t.Fatalf("a key never seen: %v with %d buckets, want nothing", err, len(l.buckets))
		}
	}
	_ = l.Take("a")
	if err := errs.As(l.Peek("a")); err == nil || err.Reason != "r" || err.RetryAfter != 50*time.Millisecond {
		t.Errorf("Peek at an empty bucket = %v, want what Take says", err)
	}
	c.t = c.t.Add(50 * time.Millisecond)
	if err := l.Peek("a"); err != nil {
		t.Errorf("after the time named: %v", err)
	}
}

func TestReservedTokensCanBeGivenBack(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	l := NewLimiter(60, 1, "r", c.now)
	giveBack, err := l.Reserve("a")
	if err != nil {
		t.Fatal(err)
	}
	if l.Take("a") == nil {
		t.Error("a reserved token was taken twice")
	}
	giveBack()
	if err := l.Take("a"); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

// However many are under way at once, and however long: who gives back all pays nothing,
// and gets no more than there was.
func TestTokensGivenBackLateAreWhole(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	l := NewLimiter(3000, 50, "r", c.now)
	var underWay []func()
	for i := range 10_000 {
		giveBack, err := l.Reserve("a")
		if err != nil {
			t.Fatalf("the %dth is refused: %v", i, err)
		}
		if underWay = append(underWay, giveBack); len(underWay) > 40 {
			underWay[0]()
			underWay = underWay[1:]
		}
		c.t = c.t.Add(time.Millisecond)
	}
	for _, giveBack := range underWay {
		giveBack()
	}
	if q := l.Quota("a"); q.Left != 50 {
		t.Errorf("%d are left, want all 50", q.Left)
	}
}

// A client can tell from a policy and what is left of it when it may go on.
func TestQuota(t *testing.T) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	l := NewLimiter(10, 3, "r", c.now)
	policy := Policy{Name: "r", Size: 3, Window: 18 * time.Second}
	for _, want := range []Quota{{policy, 3, 0}, {policy, 2, 0}, {policy, 1, 0}, {policy, 0, 6 * time.Second}} {
		if got := l.Quota("a"); got != want {
			t.Errorf("Quota = %+v, want %+v", got, want)
		}
		_ = l.Take("a")
	}
	var refused *Refused
	if err := l.Take("a"); !errors.As(err, &refused) || refused.Quota != (Quota{policy, 0, 6 * time.Second}) {
		t.Errorf("Take = %v, whose cause is %+v", err, refused)
	}
	if c.t = c.t.Add(3 * time.Second); l.Quota("a") != (Quota{policy, 0, 3 * time.Second}) {
		t.Errorf("half a token is %+v", l.Quota("a"))
	}
}
