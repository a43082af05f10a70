package peers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// watch is a clock that a test moves.
type watch struct{ at time.Time }

func (w *watch) now() time.Time { return w.at }

func (w *watch) add(d time.Duration) { w.at = w.at.Add(d) }

var (
	errSays500 = errs.New(errs.BadGateway, "peer_refused", "it answers 500")
	errTimeout = errs.New(errs.BadGateway, "answer_too_slow", "too slow").Because(context.DeadlineExceeded)
)

func failing(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

func TestCircuitOpens(t *testing.T) {
	tests := []struct {
		says string
		ends []error
		open bool
	}{
		{"two failures", []error{errSays500, errSays500}, false},
		{"three in a row", []error{errSays500, errSays500, errSays500}, true},
		{"three, not in a row", []error{errSays500, errSays500, nil, errSays500}, false},
		{"one timeout", []error{errTimeout}, true},
		{"a deadline", []error{context.DeadlineExceeded}, true},
	}
	for _, tt := range tests {
		c, p := NewCircuits((&watch{time.Unix(1e9, 0)}).now), Peer{ID: 7, Name: "seven"}
		for _, err := range tt.ends {
			if got := c.Try(t.Context(), p, failing(err)); !errors.Is(got, err) {
				t.Errorf("%s: a call ends with %v, want %v", tt.says, got, err)
			}
		}
		if got := c.State(7).Open; got != tt.open {
			t.Errorf("%s: open is %v", tt.says, got)
		}
		called := false
		err := c.Try(t.Context(), p, func(context.Context) error { called = true; return nil })
		if called == tt.open || tt.open != errs.Is(err, "peer_not_answering") {
			t.Errorf("%s: then it is called: %v, %v", tt.says, called, err)
		}
		if tt.open && errs.As(err).RetryAfter != retryFirst {
			t.Errorf("%s: try again after %s", tt.says, errs.As(err).RetryAfter)
		}
		if up := c.gaveUp(); (len(up) == 1) != tt.open || len(c.gaveUp()) > 0 {
			t.Errorf("%s: %d are told of once", tt.says, len(up))
		}
	}
}

func TestCircuitIsClosedByTheBackgroundAlone(t *testing.T) {
	w := &watch{time.Unix(1e9, 0)}
	c, p := NewCircuits(w.now), Peer{ID: 7}
	_ = c.Try(t.Context(), p, failing(errTimeout))
	for _, pause := range []time.Duration{5, 10, 20, 40, 80, 120, 120} {
		w.add(pause*time.Second - 1)
		if len(c.due([]Peer{p})) > 0 {
			t.Fatalf("it is tried before %d s", pause)
		}
		w.add(1)
		if len(c.due([]Peer{p})) != 1 {
			t.Fatalf("it is not tried after %d s", pause)
		}
		c.fetched(7, errTimeout)
		if err := c.Try(t.Context(), p, failing(nil)); !errs.Is(err, "peer_not_answering") {
			t.Errorf("a message finds out: %v", err)
		}
	}
	c.fetched(7, nil)
	if err := c.Try(t.Context(), p, failing(nil)); err != nil || c.State(7).Open {
		t.Errorf("after it answered: %v", err)
	}
	_ = c.Try(t.Context(), p, failing(errTimeout))
	if wait := c.State(7).NextTry.Sub(w.now()); wait != retryFirst {
		t.Errorf("the next time it waits %s first", wait)
	}
}

// What says who it is and then hangs is asked less and less often.
func TestCircuitOfAPeerThatOnlySaysWhoItIs(t *testing.T) {
	w := &watch{time.Unix(1e9, 0)}
	c, p := NewCircuits(w.now), Peer{ID: 7}
	for _, pause := range []time.Duration{5, 10, 20, 40, 80, 120, 120} {
		_ = c.Try(t.Context(), p, failing(errTimeout))
		if wait := c.State(7).NextTry.Sub(w.now()); wait != pause*time.Second {
			t.Errorf("it is left alone for %s, want %d s", wait, pause)
		}
		w.add(pause * time.Second)
		c.due([]Peer{p})
		c.fetched(7, nil)
	}
	_ = c.Try(t.Context(), p, failing(nil))
	_ = c.Try(t.Context(), p, failing(errTimeout))
	if wait := c.State(7).NextTry.Sub(w.now()); wait != retryFirst {
		t.Errorf("after a good call it is left alone for %s", wait)
	}
}

func TestCircuitBoundsCalls(t *testing.T) {
	c, p, hold := NewCircuits(time.Now), Peer{ID: 7}, make(chan struct{})
	ended, under := make(chan error), make(chan struct{})
	for range atOnce {
		go func() {
			ended <- c.Try(t.Context(), p, func(context.Context) error { under <- struct{}{}; <-hold; return nil })
		}()
		<-under
	}
	if err := c.Try(t.Context(), p, failing(nil)); !errs.Is(err, "peer_busy") {
		t.Errorf("one more: %v", err)
	}
	if err := c.Try(t.Context(), Peer{ID: 8}, failing(nil)); err != nil {
		t.Errorf("another peer: %v", err)
	}
	close(hold)
	for range atOnce {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if err := c.Try(t.Context(), p, failing(nil)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestCallersWhoGiveUpBlameNobody(t *testing.T) {
	c, p := NewCircuits(time.Now), Peer{ID: 7}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * failuresMax {
		_ = c.Try(ctx, p, func(ctx context.Context) error { return ctx.Err() })
	}
	if c.State(7).Open {
		t.Error("the circuit opened")
	}
}

func TestCircuitsForgetWhoIsGone(t *testing.T) {
	c := NewCircuits(time.Now)
	for id := range int64(10) {
		_ = c.Try(t.Context(), Peer{ID: id}, failing(errTimeout))
	}
	c.forget([]Peer{{ID: 3}})
	if len(c.byID) != 1 || !c.State(3).Open {
		t.Errorf("%d are kept", len(c.byID))
	}
}
