package relay

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

func free(int64) error { return nil }

func idsOf(messages []Message) (ids []int64) {
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// Checklist 41: poll cursor, budget, first message rule.
func TestPoll(t *testing.T) {
	tests := []struct {
		name  string
		sizes []int
		q     Query
		want  []int64
	}{
		{"an empty mailbox", nil, Query{}, nil},
		{"all of it, in order", []int{1, 1, 1}, Query{}, []int64{1, 2, 3}},
		{"up to the limit", []int{1, 1, 1}, Query{Limit: 2}, []int64{1, 2}},
		{"a negative limit is none", []int{1, 1}, Query{Limit: -7}, []int64{1, 2}},
		{"after the cursor", []int{1, 1, 1}, Query{After: 2}, []int64{3}},
		{"after the end", []int{1}, Query{After: 1 << 40}, nil},
		{"up to the budget exactly", []int{200, 200, 1}, Query{}, []int64{1, 2}},
		{"the first one whatever its size", []int{401, 1}, Query{}, []int64{1}},
		{"a large one waits for its turn", []int{1, 401, 1}, Query{}, []int64{1}},
	}
	for _, tt := range tests {
		o := newOffice(limits, "bob")
		o.mem.inline = 100 // more than that is fetched after memory was reserved
		var want, reserved int64
		for _, size := range tt.sizes {
			o.put(t, "bob", size)
		}
		got, err := o.Poll(t.Context(), proofOf("bob"), tt.q, func(n int64) error { reserved += n; return nil })
		if err != nil || !slices.Equal(idsOf(got), tt.want) {
			t.Errorf("%s: messages %v, %v, want %v", tt.name, idsOf(got), err, tt.want)
		}
		for _, m := range got {
			want += int64(len(m.Envelope))
			if int64(len(m.Envelope)) != m.Size {
				t.Errorf("%s: message %d has %d of %d bytes", tt.name, m.ID, len(m.Envelope), m.Size)
			}
		}
		if reserved != want {
			t.Errorf("%s: %d bytes reserved for %d", tt.name, reserved, want)
		}
	}
}

func TestPollRefusals(t *testing.T) {
	o := newOffice(limits, "bob")
	o.put(t, "bob", 10)
	_, err := o.Poll(t.Context(), proofOf("bob"), Query{After: -1}, free)
	if got := reasonOf(err); got != "invalid bad_after_id" {
		t.Errorf("a negative cursor: %q", got)
	}
	p := proofOf("bob")
	_, _ = o.Poll(t.Context(), p, Query{}, free)
	_, err = o.Poll(t.Context(), p, Query{}, free)
	if got := reasonOf(err); got != "unauthorized replayed" {
		t.Errorf("the same poll again: %q", got)
	}
	busy := errs.New(errs.Unavailable, "hub_busy", "busy")
	_, err = o.Poll(t.Context(), proofOf("bob"), Query{}, func(int64) error { return busy })
	if got := reasonOf(err); got != "unavailable hub_busy" {
		t.Errorf("no memory for the answer: %q", got)
	}
	if o.Board.Waiting() != 0 {
		t.Errorf("%d polls wait after they were refused", o.Board.Waiting())
	}
}

func TestPollIsASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		p := proofOf("bob")
		_, _ = o.Poll(t.Context(), p, Query{}, free)
		first := time.Now()
		time.Sleep(time.Minute)
		_, _ = o.Poll(t.Context(), p, Query{}, free) // a replay by somebody else
		if !o.mem.seen["bob"].Equal(first) {
			t.Errorf("bob was seen at %v, want %v", o.mem.seen["bob"], first)
		}
	})
}

func TestPollWaits(t *testing.T) {
	tests := []struct {
		name string
		wait time.Duration
		do   func(t *testing.T, o *office)
		took time.Duration
		want int
	}{
		{"not at all where none was asked for", 0, nil, 0, 0},
		{"until the time is over", 55 * time.Second, nil, 55 * time.Second, 0},
		{"until mail comes", 55 * time.Second, func(t *testing.T, o *office) {
			if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1))); err != nil {
				t.Error(err)
			}
		}, time.Second, 1},
		{"on, when woken for nothing", 55 * time.Second, func(_ *testing.T, o *office) { o.Board.Wake("bob") }, 55 * time.Second, 0},
		{"until the hub stops", 55 * time.Second, func(_ *testing.T, o *office) { o.Board.Close() }, time.Second, 0},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(limits, "bob")
			if tt.do != nil {
				time.AfterFunc(time.Second, func() { tt.do(t, o) })
			}
			start := time.Now()
			got, err := o.Poll(t.Context(), proofOf("bob"), Query{Wait: tt.wait}, free)
			if err != nil || len(got) != tt.want || time.Since(start) != tt.took {
				t.Errorf("%s: %d messages after %v, %v; want %d after %v", tt.name, len(got), time.Since(start), err, tt.want, tt.took)
			}
			synctest.Wait()
		})
	}
}

// A message that is alone in its mailbox goes straight to the poll that waits for
// it. With others there, the poll looks, or it would skip them.
func TestPollIsHandedWhatIsAlone(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lies  int   // messages before
		after int64 // how far the poll has read, beyond those
		size  int
		want  int // messages
		looks int // after the first
	}{
		{"alone", 0, 0, 1, 1, 0},
		{"with one that was read and is not acknowledged", 1, 0, 1, 1, 1},
		{"behind an id that nothing has yet", 0, 1000, 1, 0, 1},
		{"too large to be held unasked", 0, 0, maxHanded, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			roomy := limits
			roomy.Envelope, roomy.Bytes, roomy.PollBudget = 1<<20, 1<<20, 1<<20
			o := newOffice(roomy, "bob")
			q := Query{After: tt.after, Wait: time.Minute}
			for range tt.lies {
				q.After += o.put(t, "bob", 1)
			}
			before := o.mem.looks
			time.AfterFunc(time.Second, func() {
				if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", tt.size))); err != nil {
					t.Error(err)
				}
			})
			got, err := o.Poll(t.Context(), proofOf("bob"), q, free)
			if looks := o.mem.looks - before - 1; err != nil || len(got) != tt.want || looks != tt.looks {
				t.Errorf("%s: %d messages after %d looks, %v; want %d after %d", tt.name, len(got), looks, err, tt.want, tt.looks)
			}
			for _, m := range got {
				if m.ID <= q.After || m.Size != int64(len(m.Envelope)) || len(m.Envelope) < tt.size {
					t.Errorf("%s: message %d of %d bytes has %d", tt.name, m.ID, m.Size, len(m.Envelope))
				}
			}
		})
	}
}

func TestPollEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		ctx, gone := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, gone)
		if _, err := o.Poll(ctx, proofOf("bob"), Query{Wait: time.Minute}, free); err != context.Canceled {
			t.Errorf("Poll = %v, want canceled", err)
		}
		if o.Board.Waiting() != 0 {
			t.Error("a poll without a client is still waiting")
		}
	})
}

// More waits than one page holds: the next poll does not sleep. And what its
// node can't read holds up nothing that came after it.
func TestPollGetsPastWhatStaysBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		for range 150 {
			o.put(t, "bob", 1) // undecodable: never acknowledged
		}
		good := o.put(t, "bob", 1)
		start, cursor, polls := time.Now(), int64(0), 0
		for cursor < good {
			got, err := o.Poll(t.Context(), proofOf("bob"), Query{After: cursor, Wait: 30 * time.Second}, free)
			if err != nil || len(got) == 0 {
				t.Fatalf("poll %d: %d messages, %v", polls, len(got), err)
			}
			cursor = got[len(got)-1].ID
			polls++
		}
		if polls != 2 || time.Since(start) != 0 {
			t.Errorf("%d polls in %v, want 2 at once", polls, time.Since(start))
		}
	})
}

func TestManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		o := newOffice(limits)
		var wg sync.WaitGroup
		for range n {
			aid := rand.Text()
			wg.Go(func() { _, _ = o.Poll(t.Context(), proofOf(aid), Query{Wait: 50 * time.Second}, free) })
		}
		synctest.Wait()
		if got := o.Board.Waiting(); got != n || o.mem.looks != n {
			t.Errorf("%d polls wait after %d looks, want %d of each", got, o.mem.looks, n)
		}
		wg.Wait()
		if o.mem.looks != n {
			t.Errorf("%d looks, want none while nothing happens", o.mem.looks-n)
		}
	})
}

func TestAck(t *testing.T) {
	o := newOffice(limits, "bob", "eve")
	id := o.put(t, "bob", 10)
	if n, err := o.Ack(t.Context(), proofOf("eve"), []int64{id}); n != 0 || err != nil {
		t.Errorf("eve acknowledged %d of bob's messages, %v", n, err)
	}
	if n, err := o.Ack(t.Context(), proofOf("bob"), []int64{id, id, 99, -1}); n != 1 || err != nil {
		t.Errorf("acked %d, %v, want 1", n, err)
	}
	if n, err := o.Ack(t.Context(), proofOf("bob"), nil); n != 0 || err != nil {
		t.Errorf("acked %d of nothing, %v", n, err)
	}
	_, err := o.Ack(t.Context(), proofOf("bob"), make([]int64, maxAck+1))
	if got := reasonOf(err); got != "invalid too_many_ids" {
		t.Errorf("too many ids: %q", got)
	}
}
