package postgres

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/feed"
)

// Numbers grow in the order in which they can be seen: who reads while many change
// and several processes number misses nobody.
func TestNoEntryHidesBehindACursor(t *testing.T) {
	f := newTold(t)
	const nodes = 40
	all := make([]*directorytest.Node, nodes)
	for i := range all {
		all[i] = f.node()
		f.register(all[i], f.full(all[i], 1))
	}
	done := make(chan struct{})
	var work, numbering sync.WaitGroup
	for half := range 4 {
		work.Go(func() {
			for i := half; i < nodes; i += 4 {
				if err := f.SetVisibility(t.Context(), all[i].Proof(f.clock.now()), directory.Federated); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		numbering.Go(func() {
			for {
				if _, err := NewFeed(f.pool).Number(t.Context(), f.clock.now(), 3); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	go func() { work.Wait(); close(done) }()
	heard, cursor := map[string]bool{}, int64(0)
	listen := func() {
		page := f.page(feed.Cards, cursor)
		for _, c := range page.Cards {
			if c.FedSeq <= cursor {
				t.Errorf("number %d behind cursor %d", c.FedSeq, cursor)
			}
			heard[string(c.KEL)] = true
		}
		cursor = page.Cursor
	}
	for waiting := true; waiting; {
		listen()
		select {
		case <-done:
			waiting = false
		default:
		}
	}
	numbering.Wait()
	f.number()
	for before := int64(-1); before != cursor; {
		before = cursor
		listen()
	}
	if len(heard) != nodes {
		t.Errorf("heard of %d agents, want %d", len(heard), nodes)
	}
}

// A page ends where its bytes do, and always holds one entry.
func TestPagesHaveABound(t *testing.T) {
	f := newTold(t)
	for range 3 {
		f.federated()
	}
	f.number()
	for _, c := range []struct {
		why  string
		size int
		want []int
	}{
		{"small ones", 64 << 10, []int{3}},
		{"two fill it", 2 << 20, []int{2, 1}},
		{"each is larger", 5 << 20, []int{1, 1, 1}},
	} {
		if _, err := f.pool.Exec(t.Context(), `UPDATE feed SET size = @size`, pgx.NamedArgs{"size": c.size}); err != nil {
			t.Fatal(err)
		}
		after := int64(0)
		for i, want := range c.want {
			page := f.page(feed.Cards, after)
			if len(page.Cards) != want {
				t.Errorf("%s: page %d has %d entries, want %d", c.why, i, len(page.Cards), want)
			}
			after = page.Cursor
		}
		if page := f.page(feed.Cards, after); len(page.Cards) != 0 || page.Cursor != after {
			t.Errorf("%s: %d entries behind the end", c.why, len(page.Cards))
		}
	}
}

// A page whose entries have grown since their bytes were counted ends early.
func TestAPageThatGrewEndsEarly(t *testing.T) {
	f := newTold(t)
	for range 3 {
		f.federated()
	}
	f.number()
	if _, err := f.pool.Exec(t.Context(), `UPDATE feed SET size = 1`); err != nil {
		t.Fatal(err)
	}
	all, _ := f.read(feed.Cards, 0)
	if page := f.page(feed.Cards, 0); len(page.Cards) != 1 || page.Cursor != page.Cards[0].FedSeq || len(all) != 3 {
		t.Errorf("%d entries up to %d, %d in all; want one at a time", len(page.Cards), page.Cursor, len(all))
	}
}

// After a restore every entry is ahead of what any peer can have read.
func TestARestoreLiftsTheNumbers(t *testing.T) {
	j := newJury(t)
	f := tell(j.hub)
	a, b, gone := f.federated(), f.federated(), f.federated()
	j.mustReview(a, b, 5)
	f.number()
	f.see(gone, directory.HubLocal)
	f.number()
	before, cursor := f.read(feed.Cards, 0)
	for range 2 { // a restored hub may be restored
		if _, err := f.pool.Exec(t.Context(), AfterRestore(true, f.clock.now())); err != nil {
			t.Fatal(err)
		}
		f.clock.advance(time.Hour) // a restored hub takes no request of before
		after, end := f.read(feed.Cards, cursor)
		if len(after) != len(before) {
			t.Fatalf("%d entries behind the old cursor, want %d", len(after), len(before))
		}
		for i := range after {
			if about(after[i]) != about(before[i]) || !bytes.Equal(after[i].KEL, before[i].KEL) {
				t.Errorf("entry %d is another one", i)
			}
		}
		f.see(gone, directory.Federated)
		f.number()
		if news, _ := f.read(feed.Cards, end); len(news) != 1 {
			t.Errorf("%d entries behind the restored ones, want 1", len(news))
		}
		f.see(gone, directory.HubLocal)
		f.number()
		before, cursor = f.read(feed.Cards, 0)
		f.clock.advance(time.Hour)
	}
	j.mustReview(b, a, 5)
	if page := f.reviews(0); len(page.Reviews) != 2 || page.Cursor < f.clock.now().UnixMicro() {
		t.Errorf("%d reviews up to %d, want the second ahead of the clock", len(page.Reviews), page.Cursor)
	}
}
