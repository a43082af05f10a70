package replay

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

var now = time.Unix(1_800_000_000, 0)

func proof(aid string, n int, at time.Time) Proof {
	sum := sha256.Sum256(fmt.Append(nil, aid, n))
	return Proof{AID: aid, Key: [16]byte(sum[:16]), SignedAt: at}
}

func add(c *Census, aid string, n int) {
	for i := range n {
		c.Add(proof(aid, i, now), 1)
	}
}

func TestBoundsFor(t *testing.T) {
	tests := []struct {
		name  string
		rate  float64
		burst int
		want  int64
	}{
		{"the defaults stay at the floor", 20, 200, 32768},
		{"a higher rate lifts the bound", 100, 1000, 2 * (60000 + 1000)},
		{"a fraction is rounded up", 60.0001, 0, 2 * 36001},
	}
	for _, tt := range tests {
		if got := BoundsFor(tt.rate, tt.burst); got.PerSigner != tt.want || got.Total != 1048576 {
			t.Errorf("%s: BoundsFor(%v, %d) = %+v, want %d of 1048576", tt.name, tt.rate, tt.burst, got, tt.want)
		}
	}
}

// Checklist 10: per-signer memory bound, global fairness.
func TestAdmit(t *testing.T) {
	tests := []struct {
		name   string
		bounds Bounds
		held   map[string]int
		aid    string
		want   string
	}{
		{"an empty memory takes anybody", Bounds{2, 4}, nil, "a", ""},
		{"below the bound", Bounds{2, 4}, map[string]int{"a": 1}, "a", ""},
		{"at the bound that signer waits", Bounds{2, 4}, map[string]int{"a": 2}, "a", "replay_memory_full"},
		{"another signer does not", Bounds{2, 4}, map[string]int{"a": 2}, "b", ""},
		{"full: more than an even share waits", Bounds{9, 4}, map[string]int{"a": 3, "b": 1}, "a", "replay_memory_busy"},
		{"full: less than an even share is admitted", Bounds{9, 4}, map[string]int{"a": 3, "b": 1}, "b", ""},
		{"full: exactly an even share waits", Bounds{9, 4}, map[string]int{"a": 2, "b": 2}, "b", "replay_memory_busy"},
		{"full: a newcomer is admitted", Bounds{9, 4}, map[string]int{"a": 2, "b": 2}, "c", ""},
	}
	for _, tt := range tests {
		c := NewCensus(tt.bounds)
		for aid, n := range tt.held {
			add(c, aid, n)
		}
		err := c.Admit(tt.aid, now)
		if testkit.Reason(err) != tt.want {
			t.Errorf("%s: Admit(%q) = %v, want %q", tt.name, tt.aid, err, tt.want)
		}
		if e := errs.As(err); e != nil && e.RetryAfter != 10*time.Second {
			t.Errorf("%s: Retry-After = %v, want 10s", tt.name, e.RetryAfter)
		}
	}
}

func TestEntriesStopCountingWhenTheyExpire(t *testing.T) {
	c := NewCensus(Bounds{2, 4})
	add(c, "a", 2)
	if err := c.Admit("a", now.Add(Lifetime-time.Second)); err == nil {
		t.Error("a live entry was not counted")
	}
	if err := c.Admit("a", now.Add(Lifetime+time.Minute)); err != nil {
		t.Errorf("an expired entry still counts: %v", err)
	}
}

func TestRolledBackEntriesDontCount(t *testing.T) {
	c := NewCensus(Bounds{1, 4})
	p := proof("a", 1, now)
	c.Add(p, 1)
	c.Add(p, -1)
	if err := c.Admit("a", now); err != nil {
		t.Errorf("after a rollback: %v", err)
	}
}

func TestCountsOfOtherProcessesAreLearned(t *testing.T) {
	c := NewCensus(Bounds{10, 100})
	add(c, "a", 3)
	told := c.Unshared()
	add(c, "a", 1) // arrives while the batch is under way
	c.Shared(told, []Count{{"a", proof("a", 0, now).Minute(), 9}})
	if got := c.held("a", MinuteOf(now)); got != 10 {
		t.Errorf("held = %d, want the 9 of all processes and 1 of the next batch", got)
	}
	if testkit.Reason(c.Admit("a", now)) != "replay_memory_full" {
		t.Error("entries of other processes don't count")
	}
	if next := c.Unshared(); len(next) != 1 || next[0].N != 1 {
		t.Errorf("Unshared = %v, want the one entry that came later", next)
	}
}

func TestRefreshForgetsWhatIsOver(t *testing.T) {
	c := NewCensus(Bounds{10, 100})
	add(c, "a", 3)
	c.Refresh(Totals{}, now.Add(Horizon))
	if len(c.signers) != 0 || c.entries() != 0 {
		t.Errorf("after the horizon %d signers with %d entries are left", len(c.signers), c.entries())
	}
}

func TestProof(t *testing.T) {
	p := proof("a", 1, now)
	if got := p.Expires(); !got.Equal(now.Add(5 * time.Minute)) {
		t.Errorf("Expires = %v", got)
	}
	if p.Ahead(now) || !proof("a", 1, now.Add(Clocks+time.Millisecond)).Ahead(now) {
		t.Error("Ahead misjudges the signer's clock")
	}
}
