package card

import (
	"errors"
	"fmt"
)

// Code is why a card is refused, as section H.4 and the high-water rule spell it.
type Code string

// The codes. KELUnavailable is no verdict on the card: ask again later.
const (
	CardTooLarge       Code = "CARD_TOO_LARGE"
	MalformedJSON      Code = "MALFORMED_JSON"
	InvalidCard        Code = "INVALID_CARD"
	Unsigned           Code = "UNSIGNED"
	BindingMismatch    Code = "BINDING_MISMATCH"
	CardNotYetValid    Code = "CARD_NOT_YET_VALID"
	BadSignatureHeader Code = "BAD_SIGNATURE_HEADER"
	KELUnavailable     Code = "KEL_UNAVAILABLE"
	UnknownAID         Code = "UNKNOWN_AID"
	KeyNotCurrent      Code = "KEY_NOT_CURRENT"
	InvalidSignature   Code = "INVALID_SIGNATURE"
	NotPublishForm     Code = "NOT_PUBLISH_FORM"
	SeqFork            Code = "SEQ_FORK"
	SeqRollback        Code = "SEQ_ROLLBACK"
)

// Error is a refusal of a card, a network card or an older one. Its text starts
// with the code, as card_error does in the answer to a registration.
type Error struct {
	Code    Code
	Message string
	cause   error
}

// Refuse makes a refusal.
func Refuse(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because keeps the cause for the log.
func (e *Error) Because(cause error) *Error { e.cause = cause; return e }

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf is the code of err, empty when it has none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
