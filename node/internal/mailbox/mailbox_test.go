package mailbox

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/hubtest"
	"github.com/anet-hub/anet/shared/errs"
)

const me = "bme"

// reader is a receiver whose verdict depends on the words of the message: bad
// ones are dropped, early ones wait until released, slow ones are settled from
// another goroutine.
type reader struct {
	mu       sync.Mutex
	got      []string
	released bool
}

func (r *reader) Receive(_ context.Context, envelope []byte, settled func(Verdict)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	words := string(envelope)
	switch {
	case bytes.HasPrefix(envelope, []byte("early")) && !r.released:
		settled(Wait)
		return
	case bytes.HasPrefix(envelope, []byte("slow")):
		go func() { time.Sleep(30 * time.Second); settled(Done) }()
	default:
		settled(Done)
	}
	r.got = append(r.got, words)
}

func (r *reader) count(words string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.got {
		if g == words {
			n++
		}
	}
	return n
}

func (r *reader) len() int { r.mu.Lock(); defer r.mu.Unlock(); return len(r.got) }

func noSync(context.Context) error { return nil }

type set struct {
	hub  *hubtest.Hub
	box  *Mailbox
	read *reader
	log  *bytes.Buffer
}

// run starts a mailbox in a bubble of virtual time and ends it after f.
func run(t *testing.T, f func(t *testing.T, s set)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := set{hub: hubtest.New(), read: &reader{}, log: &bytes.Buffer{}}
		s.hub.Open(me)
		s.box = New(s.hub.Line(me), s.read, noSync, Events{}, slog.New(slog.NewTextHandler(s.log, nil)))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.box.Run(ctx) }()
		f(t, s)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil after the end of its context", err)
		}
		time.Sleep(time.Minute) // whatever was still at work
	})
}

// D15: what waits is fetched page after page, without a pause between them.
func TestFullPagesFollowAtOnce(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		for i := range 250 {
			s.hub.Put(me, fmt.Appendf(nil, "good %d", i))
		}
		time.Sleep(2 * time.Second)
		if n := s.read.len(); n != 250 {
			t.Errorf("after 2 s %d messages were read, want 250", n)
		}
		if left := len(s.hub.Mail(me)); left != 0 {
			t.Errorf("%d messages were not acknowledged, want 0", left)
		}
	})
}

func TestNewMailArrivesDuringALongPoll(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		time.Sleep(30 * time.Second)
		s.hub.Put(me, []byte("good"))
		synctest.Wait()
		if s.read.len() != 1 {
			t.Error("a message put during a poll was not read at once")
		}
	})
}

// D15, checklist 24: what cannot be decided holds up nothing behind it.
func TestMessagesThatWaitPinNothing(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		for i := range 150 {
			s.hub.Put(me, fmt.Appendf(nil, "early %d", i))
		}
		s.hub.Put(me, []byte("good"))
		time.Sleep(time.Second)
		if s.read.count("good") != 1 {
			t.Error("the good message behind 150 waiting ones was not read within a second")
		}
		if s.box.State().Waiting != 150 {
			t.Errorf("State says %d wait, want 150", s.box.State().Waiting)
		}
		s.read.mu.Lock()
		s.read.released = true
		s.read.mu.Unlock()
		time.Sleep(rereadFirst)
		if left := len(s.hub.Mail(me)); left != 0 || s.box.State().Waiting != 0 {
			t.Errorf("10 s after they could be decided %d are left, %d wait; want none", left, s.box.State().Waiting)
		}
	})
}

func TestReadingAgainSlowsDown(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		s.hub.Put(me, []byte("early"))
		time.Sleep(time.Hour)
		polls := len(s.hub.Attempts())
		if polls > 200 {
			t.Errorf("one waiting message caused %d polls in an hour, want the pace to slow down", polls)
		}
		s.hub.Put(me, []byte("good"))
		synctest.Wait()
		if s.read.count("good") != 1 {
			t.Error("new mail was not read at once beside a waiting message")
		}
	})
}

// A message at work is neither acknowledged nor handed on a second time.
func TestMessageAtWorkIsNotTakenTwice(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		s.hub.Put(me, []byte("early bird"))
		s.hub.Put(me, []byte("slow call"))
		time.Sleep(25 * time.Second) // the waiting one makes it read from the start, twice
		if n := s.read.count("slow call"); n != 1 {
			t.Errorf("the call at work was handed on %d times, want once", n)
		}
		if left := len(s.hub.Mail(me)); left != 2 {
			t.Errorf("%d messages are left while one works and one waits, want both", left)
		}
		time.Sleep(10 * time.Second)
		if left := len(s.hub.Mail(me)); left != 1 {
			t.Errorf("%d messages are left after the work, want the waiting one", left)
		}
	})
}

func TestHubWithoutWaitIsAskedEverySecond(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		s.hub.Plain()
		s.hub.Put(me, []byte("good"))
		time.Sleep(time.Minute)
		if n := len(s.hub.Attempts()); n < 55 || n > 65 {
			t.Errorf("%d requests in a minute, want one a second", n)
		}
	})
}

// D11: mail sent during an outage arrives, and the log stays readable.
func TestOutage(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		time.Sleep(time.Minute)
		s.hub.Down(errs.New(errs.Unavailable, "down", "connection refused"))
		time.Sleep(time.Minute)
		s.hub.Put(me, []byte("good"))
		s.hub.Down(nil)
		time.Sleep(DefaultBackoff.Cap + time.Second)
		if s.read.count("good") != 1 {
			t.Error("mail of the outage did not arrive within the longest delay")
		}
	})
}

// A hub that comes back from a backup may count from a lower id on.
func TestAHubThatCountsFromLowerOn(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		s.hub.Put(me, []byte("before"))
		time.Sleep(time.Minute)
		s.hub.Down(errs.New(errs.Unavailable, "down", "connection refused"))
		time.Sleep(time.Minute)
		s.hub.Restore(me)
		s.hub.Down(nil)
		time.Sleep(time.Minute)
		s.hub.Put(me, []byte("after"))
		time.Sleep(time.Minute)
		if s.read.count("before") != 1 || s.read.count("after") != 1 {
			t.Errorf("read %d and %d times, want both once", s.read.count("before"), s.read.count("after"))
		}
	})
}

func TestOutageLog(t *testing.T) {
	run(t, func(t *testing.T, s set) {
		time.Sleep(time.Minute)
		s.hub.Down(errs.New(errs.Unavailable, "down", "connection refused"))
		time.Sleep(24 * time.Hour)
		s.hub.Down(nil)
		time.Sleep(DefaultBackoff.Cap + time.Second)
		synctest.Wait()
		lines := bytes.Split(bytes.TrimSpace(s.log.Bytes()), []byte("\n"))
		if len(lines) > 10 {
			t.Errorf("a day's outage wrote %d lines, want at most 10", len(lines))
		}
		if last := lines[len(lines)-1]; !bytes.Contains(last, []byte("the hub is back")) || !bytes.Contains(last, []byte("failures=")) {
			t.Errorf("the last line is %q, want the end of the outage with its failures", last)
		}
	})
}

func TestOtherWireEndsPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := hubtest.New()
		hub.Down(errs.New(errs.UpgradeRequired, "wire_unsupported", "the hub speaks wire 3"))
		box := New(hub.Line(me), &reader{}, noSync, Events{}, slog.New(slog.DiscardHandler))
		err := box.Run(t.Context())
		if errs.KindOf(err) != errs.UpgradeRequired || box.State().Stopped == "" {
			t.Errorf("Run = %v, stopped %q; want polling to end and say why", err, box.State().Stopped)
		}
	})
}

func TestUnknownNodeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, told := hubtest.New(), make(chan struct{}, 1)
		unknown := func() { hub.Open(me); told <- struct{}{} }
		box := New(hub.Line(me), &reader{}, noSync, Events{Unknown: unknown}, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		go box.Run(ctx)
		<-told
		time.Sleep(DefaultBackoff.Cap)
		if s := box.State(); s.Failures != 0 || s.LastPoll.IsZero() {
			t.Errorf("after registering: %+v, want polls to succeed", s)
		}
		stop()
	})
}

// Checklist 24: what was decided is on disk before the hub forgets it, many
// messages at once where many wait.
func TestAckAfterSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, read, syncs := hubtest.New(), &reader{}, 0
		hub.Open(me)
		disk := errs.New(errs.Internal, "disk", "the disk is full")
		sync := func(context.Context) error {
			if syncs++; syncs == 1 {
				return disk
			}
			return nil
		}
		for range 100 {
			hub.Put(me, []byte("good"))
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- New(hub.Line(me), read, sync, Events{}, slog.New(slog.DiscardHandler)).Run(ctx) }()
		synctest.Wait()
		if read.len() != 100 || len(hub.Mail(me)) != 100 {
			t.Errorf("while nothing gets to disk %d of 100 messages are left", len(hub.Mail(me)))
		}
		time.Sleep(DefaultBackoff.Cap)
		if n := len(hub.Mail(me)); n != 0 || syncs > 5 {
			t.Errorf("%d messages are left after %d syncs, want none after a few", n, syncs)
		}
		stop()
		<-ended
	})
}
