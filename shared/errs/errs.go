// Package errs is how a rule says no: a kind that decides the status on the
// wire, a stable reason a program may compare, and a sentence for people.
//
// Rules return these errors and never a status code; shared/wire pairs kinds
// with statuses. An error without a kind is Internal: it is logged where the
// request ends and its text never reaches the caller.
package errs

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of failure it is. The zero value is Internal, so a
// forgotten kind can leak nothing.
type Kind uint8

// The kinds. Their statuses stand in shared/wire.
const (
	Internal Kind = iota
	Invalid
	Unauthorized
	PaymentRequired
	Forbidden
	NotFound
	MethodNotAllowed
	Conflict
	TooLarge
	UpgradeRequired
	TooMany
	BadGateway
	Unavailable
	Full
)

// String names the kind as it stands in metrics.
func (k Kind) String() string {
	names := [...]string{
		"internal", "invalid", "unauthorized", "payment_required", "forbidden", "not_found", "method_not_allowed",
		"conflict", "too_large", "upgrade_required", "too_many", "bad_gateway", "unavailable", "full",
	}
	if int(k) >= len(names) {
		return "internal"
	}
	return names[k]
}

// Error is a failure with an answer. Reason is lower snake case and stable;
// Message is one sentence and may name the offending field, never a secret.
type Error struct {
	Kind       Kind
	Reason     string
	Message    string
	Field      string         // the member, parameter or header at fault, when one is
	RetryAfter time.Duration  // when trying again makes sense, zero when unknown
	Detail     map[string]any // further members of the answer, named in the specification

	cause error
}

// New makes a failure of one kind.
func New(k Kind, reason, format string, args ...any) *Error {
	return &Error{Kind: k, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// In names the field at fault.
func (e *Error) In(field string) *Error { e.Field = field; return e }

// After says when to try again.
func (e *Error) After(d time.Duration) *Error { e.RetryAfter = d; return e }

// With adds a member to the answer.
func (e *Error) With(name string, value any) *Error {
	if e.Detail == nil {
		e.Detail = map[string]any{}
	}
	e.Detail[name] = value
	return e
}

// Because keeps the cause for the log; the caller of the hub never sees it.
func (e *Error) Because(cause error) *Error { e.cause = cause; return e }

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// As finds the outermost Error in err's chain, nil when there is none.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// KindOf is the kind of err: Internal when it has none.
func KindOf(err error) Kind {
	if e := As(err); e != nil {
		return e.Kind
	}
	return Internal
}

// Is reports whether err carries the reason.
func Is(err error, reason string) bool {
	e := As(err)
	return e != nil && e.Reason == reason
}
