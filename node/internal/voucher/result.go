package voucher

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/wire"
)

// Result is what a seller says became of the call. Nothing of it is signed: it is
// worth what the connection to the seller's address is worth.
type Result struct {
	Status  effect.Status
	Reason  string
	Message string
	Answer  json.RawMessage // all that was said
	Before  bool            // the voucher was spent before, and this is what came of it then
}

// said is the part of a seller's answer that is understood.
type said struct {
	Capability string          `json:"capability"`
	VoucherID  string          `json:"voucher_id"`
	Status     string          `json:"status"`
	Reason     string          `json:"reason"`
	Message    string          `json:"message"`
	Result     json.RawMessage `json:"result"`
	Code       string          `json:"code"`
	Error      string          `json:"error"`
}

// read sorts an answer: the statuses of K.7, and what proxies say.
func (v Voucher) read(a answer) (Result, error) {
	var s said
	legible := codec.UnmarshalObject(a.body, &s) == nil
	switch a.status {
	case http.StatusOK:
		if !legible {
			return Result{}, badAnswer("it is no JSON object")
		}
		return v.result(s, a.body, false)
	case http.StatusConflict:
		return v.spent(s, a)
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return Result{}, errs.New(errs.Unavailable, LostBehind, "what stands before the seller lost it (%d), and the call may have been done", a.status)
	}
	switch {
	case a.status >= 300 && a.status < 400:
		return Result{}, errs.New(errs.BadGateway, "seller_redirects",
			"the seller's address sends on to %.200q, where the voucher was not brought; if you trust that: --at URL", a.header.Get("Location"))
	case a.status < 400 || a.status >= 500 && a.status != http.StatusServiceUnavailable:
		return Result{}, badAnswer("its status is %d", a.status)
	}
	return Result{}, refused(s, a)
}

// result is a call that was done, in the seller's words.
func (v Voucher) result(s said, body []byte, before bool) (Result, error) {
	if s.VoucherID != "" && s.VoucherID != v.ID() || s.Capability != "" && s.Capability != v.Capability {
		return Result{}, badAnswer("it is for another voucher")
	}
	if s.Status == "" {
		return Result{}, badAnswer("it names no status")
	}
	return Result{Status: effect.Read(s.Status), Reason: s.Reason, Message: s.Message, Answer: bytes.TrimSpace(body), Before: before}, nil
}

// spent is the answer to a voucher that was brought before.
func (v Voucher) spent(s said, a answer) (Result, error) {
	if s.Code == inUse {
		return Result{}, errs.New(errs.Conflict, inUse, "the seller is at work on it").After(a.wait)
	}
	var then said
	if len(s.Result) > 0 && codec.UnmarshalObject(s.Result, &then) == nil {
		return v.result(then, s.Result, true)
	}
	return Result{}, errs.New(errs.Conflict, Spent,
		"the voucher was spent before, and the seller does not say what came of it; ask the seller before you buy another")
}

// refused is the seller's no: nothing was done.
func refused(s said, a answer) error {
	kind, wait := errs.Forbidden, a.wait
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		kind, wait = wire.KindOf(a.status), max(wait, time.Second)
	}
	code := "seller_refused"
	if task.Reason(s.Code).Known() || slices.Contains(refusals, s.Code) {
		code = s.Code // another word could pass for one of this program's
	}
	words := plain.Cut(plain.Line(s.Error), maxWords)
	return errs.New(kind, code, "the seller refused (%d): %s", a.status, cmp.Or(words, http.StatusText(a.status), "no word of why")).After(wait)
}

// refusals are the words of a node for a voucher that it does not take.
var refusals = []string{
	"voucher_invalid", "order_malformed", "body_too_large", "capability_missing", "args_invalid", "not_joined", "busy", "method_not_allowed",
}

// maxWords bounds, in bytes, what a seller can have shown.
const maxWords = 400

func badAnswer(format string, args ...any) *errs.Error {
	e := errs.New(errs.BadGateway, BadAnswer, format, args...)
	e.Message = "the seller's answer tells nothing of the call, which may have been done: " + e.Message
	return e
}
