package forward

import (
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// Malformed is the answer to what is no forward.
func Malformed(format string, args ...any) error {
	return errs.New(errs.Invalid, "malformed", format, args...)
}

// TooLarge is the answer to what is larger than it may be.
func TooLarge(format string, args ...any) error {
	return errs.New(errs.TooLarge, "too_large", format, args...)
}

// UnknownDestination is the answer for who is not registered here.
func UnknownDestination() error {
	return errs.New(errs.NotFound, "unknown_destination", "the destination is not registered at this hub")
}

// Duplicate says that the payload was taken before. It is no failure: what the
// peer wants done is done.
func Duplicate() error {
	return errs.New(errs.Conflict, "duplicate", "the payload was taken before")
}

func isDuplicate(err error) bool { return errs.Is(err, "duplicate") }

func versionUnsupported(v uint64) error {
	return errs.New(errs.Invalid, "version_unsupported", "the forward has version %d, this hub takes version 2", v)
}

func hopExceeded() error {
	return errs.New(errs.Invalid, "hop_exceeded", "the message was here before, or went over too many hubs")
}

func deliveryOff() error {
	return errs.New(errs.Forbidden, "policy_refused", "this hub takes nothing from other hubs")
}

func noPeer() error {
	return errs.New(errs.Forbidden, "policy_refused", "the hub that asks is no peer of this one, or not for delivery")
}

func notProven() error {
	return errs.New(errs.BadGateway, "policy_refused",
		"this hub could not make sure yet who its peer is: try again in a minute").After(time.Minute)
}

func invalidSignature(format string, args ...any) *errs.Error {
	return errs.New(errs.Unauthorized, "invalid_signature", format, args...)
}

func busy() error {
	return errs.New(errs.Unavailable, "busy", "too many requests of this peer are under way: try again in a moment").After(time.Second)
}
