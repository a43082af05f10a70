package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"github.com/anet-hub/anet/shared/payment"
)

// errand is one call of peers that a stranger caused. Nobody signs the request of a
// settlement, and whether a payment on another ledger is its payer's is for that
// ledger to say: made up, it would cost a call each time it is brought. So each
// errand takes a token of the address that asks and of every peer that is asked.
// One that moved credits gives them back, as credits run out by themselves.
func (l *Ledger) errand(from string, hubs ...string) (giveBack func(), err error) {
	var taken []func()
	giveBack = func() {
		for _, undo := range taken {
			undo()
		}
	}
	undo, err := l.Askers.Reserve(from)
	if err != nil {
		return nil, err
	}
	taken = append(taken, undo)
	for _, hub := range hubs {
		undo, err := l.Asked.Reserve(hub)
		if err != nil {
			giveBack()
			return nil, err
		}
		taken = append(taken, undo)
	}
	return giveBack, nil
}

const (
	heardFor  = 10 * time.Second // long for a program that repeats itself, short for a purse that is filled
	heardMost = 1024
)

// heard is what peers said lately: whoever asks the same meanwhile shares the one
// answer, and for a moment afterwards gets it again.
type heard[A any] struct {
	mu sync.Mutex
	by map[string]*saying[A]
}

type saying[A any] struct {
	done   chan struct{} // closed once there is an answer
	answer A
	err    error
	until  time.Time
}

// ask calls unless somebody just did, which fresh tells. The call goes on when its
// caller hangs up: others wait for it, and what a peer moved is to be credited. A
// failure is told to those who waited, and kept for nobody.
func (h *heard[A]) ask(ctx context.Context, now func() time.Time, what string, call func(context.Context) (A, error)) (answer A, fresh bool, err error) {
	s, mine := h.join(now(), what)
	if !mine {
		select {
		case <-s.done:
			return s.answer, false, s.err
		case <-ctx.Done():
			return answer, false, ctx.Err()
		}
	}
	defer func() { h.answered(s, what, now()) }()
	s.answer, s.err = call(context.WithoutCancel(ctx))
	return s.answer, true, s.err
}

// join gives what is being asked or was answered; mine, if that is the caller's to do.
func (h *heard[A]) join(now time.Time, what string) (s *saying[A], mine bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.by[what]; ok && (s.until.IsZero() || now.Before(s.until)) {
		return s, false
	}
	if len(h.by) >= heardMost {
		h.forget(now)
	}
	if h.by == nil {
		h.by = map[string]*saying[A]{}
	}
	s = &saying[A]{done: make(chan struct{})}
	h.by[what] = s
	return s, true
}

func (h *heard[A]) answered(s *saying[A], what string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.until = now.Add(heardFor); s.err != nil {
		delete(h.by, what)
	}
	close(s.done)
}

// forget makes room: of what is too old, else of everything that was answered.
func (h *heard[A]) forget(now time.Time) {
	for _, old := range []func(*saying[A]) bool{
		func(s *saying[A]) bool { return !s.until.IsZero() && !now.Before(s.until) },
		func(s *saying[A]) bool { return !s.until.IsZero() },
	} {
		for what, s := range h.by {
			if old(s) {
				delete(h.by, what)
			}
		}
		if len(h.by) < heardMost/2 {
			return
		}
	}
}

// sameRequest is a request in few bytes.
func sameRequest(req payment.FacilitatorRequest) (string, error) {
	raw, err := json.Marshal(req)
	sum := sha256.Sum256(raw)
	return string(sum[:]), err
}
