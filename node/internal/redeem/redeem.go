// Package redeem is the node's one door for people who know nothing of the network:
// a call that was bought at the hub's gateway is brought here, as JSON over HTTP, and
// answered at once (wire 2, K.7).
//
// The one rule: what was refused may be brought again, as nothing was attempted; and a
// voucher is claimed before the work, so that it never buys work twice. TLS is a proxy's.
package redeem

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/wire"
)

// Bounds of a door that anybody may knock at.
const (
	maxBody = task.MaxArgs + 64<<10
	atOnce  = 32
)

// Taker does what a voucher was sold for.
type Taker interface {
	TakeVoucher(ctx context.Context, o node.VoucherOrder) (node.Redeemed, error)
}

// Serve answers on l until ctx ends, and waits for the calls at work.
func Serve(ctx context.Context, l net.Listener, t Taker, log *slog.Logger) error {
	srv := &http.Server{
		Handler: Handler(t, log), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, IdleTimeout: time.Minute,
	}
	done := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.Background(), 4*time.Second)
		defer cancel()
		done <- srv.Shutdown(last)
	})
	err := srv.Serve(l)
	if !stop() {
		<-done // what did not end in time is cut off; what it did is in the journal
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Handler takes vouchers at any path: which one is its proxy's affair.
func Handler(t Taker, log *slog.Logger) http.Handler {
	d := door{t, make(chan struct{}, atOnce), semaphore.NewWeighted(room)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		done, err := d.take(w, r)
		if err != nil {
			refuse(w, log, err)
			return
		}
		answer(w, http.StatusOK, done)
	})
}

// door lets so many orders in at once.
type door struct {
	taker  Taker
	places chan struct{} // for orders that are whole
	room   *semaphore.Weighted
}

func (d door) take(w http.ResponseWriter, r *http.Request) (done node.Redeemed, err error) {
	if r.Method != http.MethodPost {
		return done, errs.New(errs.MethodNotAllowed, "method_not_allowed", "bring a voucher by POST")
	}
	in := order{room: d.room}
	defer in.release()
	if err := in.read(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		return done, err
	}
	select {
	case d.places <- struct{}{}:
		defer func() { <-d.places }()
	default:
		return done, errBusy()
	}
	var o node.VoucherOrder
	if codec.UnmarshalObject(in.body, &o) != nil {
		return done, errMalformed()
	}
	return d.taker.TakeVoucher(r.Context(), o)
}

// refuse writes a failure. What is no answer of a rule is logged and not shown.
func refuse(w http.ResponseWriter, log *slog.Logger, err error) {
	e := errs.As(err)
	if e == nil || e.Kind == errs.Internal {
		log.Error("redeem: an order could not be served", "error", err)
		e = errs.New(errs.Internal, "internal", "internal error")
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	body := map[string]any{"error": e.Message, "code": e.Reason}
	if e.Field != "" {
		body["field"] = e.Field
	}
	for k, v := range e.Detail {
		body[k] = v
	}
	answer(w, wire.StatusOf(e.Kind), body)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who asked is gone
}
