package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
)

// office is a relay over a store in memory.
type office struct {
	*Relay
	mem *memory
	reg *prometheus.Registry
}

// silent is a bus without other processes.
type silent struct{}

func (silent) Tell(context.Context, wake.News) error { return nil }
func (silent) Hear(ctx context.Context, ready func(), _ func(wake.News)) error {
	ready()
	<-ctx.Done()
	return ctx.Err()
}

func newOffice(l Limits, boxes ...string) *office {
	mem, reg, log := newMemory(boxes...), prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	return &office{New(Deps{
		Store: mem, Board: wake.NewBoard(nil, silent{}, log),
		Senders: admission.NewLimiter(20*60, 3, "send_rate", time.Now),
		Seen:    mem, Limits: l, Now: time.Now, Log: log, Metrics: reg,
	}), mem, reg}
}

var limits = Limits{Envelope: 1000, Messages: 5, Bytes: 1 << 20, Total: 1 << 20, PollBudget: 400, TTL: time.Hour, QuietAfter: time.Hour}

func proofOf(aid string) replay.Proof {
	p := replay.Proof{AID: aid, SignedAt: time.Now()}
	_, _ = rand.Read(p.Key[:])
	return p
}

// sealed is an envelope as a hub sees it, of about size bytes.
func sealed(to string, size int) []byte {
	return envelope.Outer{To: to, Suite: envelope.SuiteX25519, Enc: make([]byte, 32), CT: make([]byte, size)}.Bytes()
}

// mail is a request that was read.
func mail(to string, env []byte) func() (string, []byte, error) {
	return func() (string, []byte, error) { return to, env, nil }
}

func unreadable() (string, []byte, error) { return "", nil, io.EOF }

func (o *office) put(t *testing.T, to string, size int) int64 {
	t.Helper()
	q, err := o.mem.Enqueue(t.Context(), proofOf("anybody"), Mail{To: to, Envelope: make([]byte, size), At: o.Now()}, Limits{Messages: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return q.ID
}

func reasonOf(err error) string {
	if e := errs.As(err); e != nil {
		return e.Kind.String() + " " + e.Reason
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestSend(t *testing.T) {
	tests := []struct {
		name string
		to   string
		env  []byte
		want string
	}{
		{"to a registered agent", "bob", sealed("bob", 10), ""},
		{"to nobody in particular", "", sealed("bob", 10), "invalid missing_field"},
		{"to a name with a zero byte", "b\x00b", sealed("b\x00b", 10), "invalid zero_byte"},
		{"without an envelope", "bob", nil, "invalid missing_field"},
		{"at the limit of an envelope", "bob", sealed("bob", 1000-len(sealed("bob", 256))+256), ""},
		{"one byte beyond", "bob", make([]byte, 1001), "too_large envelope_too_large"},
		{"what is no envelope", "bob", []byte("hello"), "invalid bad_envelope"},
		{"sealed to somebody else", "bob", sealed("eve", 10), "invalid recipient_mismatch"},
		{"to an agent of another hub", "eve", sealed("eve", 10), "not_found unknown_recipient"},
	}
	for _, tt := range tests {
		o := newOffice(limits, "bob")
		sent, err := o.Send(t.Context(), proofOf("alice"), mail(tt.to, tt.env))
		if got := reasonOf(err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if (sent.ID > 0) != (tt.want == "") {
			t.Errorf("%s: id %d", tt.name, sent.ID)
		}
	}
}

// Checklist 41: the quota, and none for the hub alone would fill its disk.
func TestSendQuotas(t *testing.T) {
	l := limits
	l.Total = 500
	o := newOffice(l, "bob", "carol")
	for i := range l.Messages {
		if _, err := o.Send(t.Context(), proofOf("s"+string(rune('a'+i))), mail("bob", sealed("bob", 1))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := o.Send(t.Context(), proofOf("z"), mail("bob", sealed("bob", 1)))
	if got := reasonOf(err); got != "full mailbox_full" || errs.As(err).RetryAfter == 0 {
		t.Errorf("a full mailbox: %q", got)
	}
	big := sealed("carol", 300)
	_, err = o.Send(t.Context(), proofOf("z"), mail("carol", big))
	if got := reasonOf(err); got != "full hub_mail_full" {
		t.Errorf("a full hub: %q", got)
	}
	if _, err = o.Send(t.Context(), proofOf("y"), mail("carol", sealed("bob", 300))); reasonOf(err) != "invalid recipient_mismatch" {
		t.Errorf("what is wrong with a message comes before what is wrong with the hub: %v", err)
	}
	found, _ := o.mem.Look(t.Context(), Look{AID: "bob", Limit: 10})
	if len(found) != int(l.Messages) {
		t.Errorf("%d messages are left of what was accepted, want %d", len(found), l.Messages)
	}
	if _, err := o.Ack(t.Context(), proofOf("bob"), []int64{found[0].ID, found[1].ID, found[2].ID}); err != nil {
		t.Fatal(err)
	}
	if _, err = o.Send(t.Context(), proofOf("z"), mail("carol", sealed("carol", 1))); err != nil {
		t.Errorf("after mail was collected: %v", err)
	}
}

func TestSendRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		p := proofOf("alice")
		if _, err := o.Send(t.Context(), p, mail("bob", sealed("bob", 1))); err != nil {
			t.Fatal(err)
		}
		for range 5 { // somebody repeats what alice sent
			if _, err := o.Send(t.Context(), p, mail("bob", sealed("bob", 1))); reasonOf(err) != "unauthorized replayed" {
				t.Fatalf("a replay: %v", err)
			}
		}
		for range 2 {
			if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1))); err != nil {
				t.Errorf("within the burst, after replays: %v", err)
			}
		}
		if err := o.MaySend("alice"); reasonOf(err) != "too_many send_rate" {
			t.Errorf("an empty bucket: %v", err)
		}
		if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1))); reasonOf(err) != "too_many send_rate" {
			t.Errorf("beyond the burst: %v", err)
		}
		if err := o.MaySend("carol"); err != nil {
			t.Errorf("another sender: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
		for _, want := range []string{"EOF", "too_many send_rate"} {
			if _, err := o.Send(t.Context(), proofOf("alice"), unreadable); reasonOf(err) != want {
				t.Errorf("what cannot be read costs a token too: %v, want %s", err, want)
			}
		}
		time.Sleep(50 * time.Millisecond)
		if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1))); err != nil {
			t.Errorf("a token later: %v", err)
		}
	})
}

func TestSendSaysWhetherTheRecipientIsQuiet(t *testing.T) {
	tests := []struct {
		name string
		ago  time.Duration
		want bool
	}{
		{"polled just now", 0, false},
		{"polled within the hour", time.Hour - time.Second, false},
		{"not for an hour", time.Hour, true},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(limits, "bob")
			o.mem.Seen("bob", time.Now().Add(-tt.ago))
			sent, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1)))
			if err != nil || sent.Quiet != tt.want {
				t.Errorf("%s: quiet = %v, %v, want %v", tt.name, sent.Quiet, err, tt.want)
			}
		})
	}
}

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

func TestRunExpiresAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		o.put(t, "bob", 10)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = o.Run(ctx) })
		synctest.Wait()
		expect(t, o, series{messages: 1, bytes: 10})
		time.Sleep(limits.TTL)
		o.put(t, "bob", 7)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		expect(t, o, series{messages: 1, bytes: 7, expired: 1})
		stop()
		wg.Wait()
	})
}

// The metric tells when expiry last came to its end, not when it last ran.
func TestExpiryThatFailsIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Hour+time.Second)
		defer stop()
		began := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { _ = o.Run(ctx) })
		time.Sleep(time.Hour + time.Second)
		o.mem.breaks(errors.New("the database is away"))
		time.Sleep(time.Hour - time.Second)
		wg.Wait()
		if got, want := value(t, o, "anet_hub_relay_expiry_seconds"), seconds(began.Add(time.Hour)); got != want {
			t.Errorf("the last expiry was %v s after the start, want %v s", got-seconds(began), want-seconds(began))
		}
	})
}

func TestCountingTakesNoMoreThanItsShare(t *testing.T) {
	for _, tt := range []struct {
		name string
		slow time.Duration
		want int // in an hour
	}{
		{"few mailboxes", 0, 360},
		{"many mailboxes", 200 * time.Millisecond, 36},
		{"more than should be", 10 * time.Second, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(limits)
			o.mem.slow = tt.slow
			ctx, stop := context.WithTimeout(t.Context(), time.Hour-time.Second)
			defer stop()
			_ = o.Run(ctx)
			if o.mem.counts != tt.want {
				t.Errorf("%s: counted %d times in an hour, want %d", tt.name, o.mem.counts, tt.want)
			}
		})
	}
}

type series struct{ messages, bytes, expired float64 }

// expect compares what the metrics say.
func expect(t *testing.T, o *office, want series) {
	t.Helper()
	got := series{
		messages: value(t, o, "anet_hub_relay_mail_messages"), bytes: value(t, o, "anet_hub_relay_mail_bytes"),
		expired: value(t, o, "anet_hub_relay_expired_total"),
	}
	if got != want {
		t.Errorf("the metrics say %+v, want %+v", got, want)
	}
}

// value is a metric without labels.
func value(t *testing.T, o *office, name string) float64 {
	t.Helper()
	families, err := o.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if m := f.GetMetric()[0]; f.GetName() == name {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
