package voucher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// Reasons of failures that are no refusal. After Unreachable certainly nothing was
// sent; after the others it may have happened, and the same again is safe.
const (
	Unreachable    = "seller_unreachable"
	ConnectionLost = "seller_connection_lost"
	LostBehind     = "seller_behind_proxy"  // a proxy says that it lost it
	StillAtWork    = "seller_still_at_work" // the time to wait ended first
	BadAnswer      = "seller_answer_invalid"
	Spent          = "voucher_spent" // and nobody says what came of it
)

// inUse is what a seller says while the call is at work.
const inUse = "voucher_in_use"

// patience is how often a lost answer is asked for again, twice as long after each
// time. Together it is what a node takes to be started anew.
const patience = 5

// Redeem has the seller do the call, and brings the voucher again where the answer
// was lost or is not there yet, until ctx ends. Sellers claim a voucher before the
// work, so that brought again it buys nothing twice.
func (l *Line) Redeem(ctx context.Context, at *url.URL, v Voucher, args json.RawMessage) (Result, error) {
	body := order(v, args)
	brought := false
	for asked, wait := 0, time.Second; ; {
		a, arrived, err := l.send(ctx, http.MethodPost, at.String(), http.Header{"Content-Type": {"application/json"}}, body)
		before := brought
		brought = brought || arrived
		var r Result
		if err == nil {
			r, err = v.read(a)
		} else {
			err = v.unanswered(at, brought, err)
		}
		e := errs.As(err)
		switch {
		case err == nil:
			return r, nil
		case ctx.Err() != nil && brought && lost(e):
			return r, stillAtWork(at, context.Cause(ctx))
		case e.Reason == inUse, before && busy(e):
			wait = max(time.Second, e.RetryAfter)
		case brought && lost(e) && asked < patience:
			wait = time.Second << asked
			asked++
		default:
			return r, err
		}
		if !pause(ctx, wait) {
			return r, stillAtWork(at, context.Cause(ctx))
		}
	}
}

// order writes the arguments as they are: a voucher may be for these very bytes.
func order(v Voucher, args json.RawMessage) []byte {
	var b bytes.Buffer
	name, _ := codec.MarshalJSON(v.Capability) // a text always has a form
	b.WriteString(`{"voucher":"` + codec.EncodeB64(v.Raw) + `","capability":`)
	b.Write(name)
	if len(args) > 0 {
		b.WriteString(`,"args":`)
		b.Write(args)
	}
	b.WriteString("}")
	return b.Bytes()
}

// unanswered sorts what went wrong before there was an answer.
func (v Voucher) unanswered(at *url.URL, brought bool, err error) error {
	switch {
	case errs.As(err) != nil:
		return badAnswer("%s", errs.As(err).Message)
	case brought:
		return errs.New(errs.Unavailable, ConnectionLost,
			"the connection to %s broke off, and the call may have been done; the same command again tells what came of it", at.Host).Because(err)
	}
	return errs.New(errs.Unavailable, Unreachable, "the seller at %s cannot be reached; the voucher is good until %s", at.Host, clock(v.Ends())).Because(err)
}

// stillAtWork is the end of waiting. Where somebody ended it, the seller may be as
// near to an answer as it likes.
func stillAtWork(at *url.URL, cause error) error {
	reason := StillAtWork
	if errors.Is(cause, context.Canceled) {
		reason = ConnectionLost
	}
	return errs.New(errs.Unavailable, reason,
		"the seller at %s has the voucher and has not said what came of it; the same command again tells, and has nothing done twice", at.Host).Because(cause)
}

// busy reports whether who has the voucher may only have no time to tell of it.
func busy(e *errs.Error) bool {
	return !lost(e) && (e.Kind == errs.TooMany || e.Kind == errs.Unavailable)
}

// lost reports whether an answer got lost on the way rather than was given.
func lost(e *errs.Error) bool {
	return e.Reason == ConnectionLost || e.Reason == Unreachable || e.Reason == LostBehind
}

func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }
