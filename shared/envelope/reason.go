package envelope

import "github.com/anet-hub/anet/shared/errs"

// Reason is why a sealed message or a key set did not count. Reasons are local
// counters and are never sent; the list is closed (section E.8).
type Reason string

// The reasons, named as other programs of the network name them so that
// measurements compare.
const (
	BadOuter             Reason = "bad-outer"
	BadVersion           Reason = "bad-version"
	UnknownSuite         Reason = "unknown-suite"
	WrongRecipient       Reason = "wrong-recipient"
	SealedToUnknownKey   Reason = "sealed-to-unknown-key"
	DecryptFailed        Reason = "decrypt-failed"
	BadInner             Reason = "bad-inner"
	UnknownCriticalField Reason = "unknown-critical-field"
	ToMismatch           Reason = "to-mismatch"
	BadPad               Reason = "bad-pad"
	KELTooLarge          Reason = "kel-too-large"
	BadKEL               Reason = "bad-kel"
	FromMismatch         Reason = "from-mismatch"
	Expired              Reason = "expired"
	FromFuture           Reason = "from-future"
	BadLifetime          Reason = "bad-lifetime"
	BadSig               Reason = "bad-sig"
	BadKeyState          Reason = "bad-key-state"
	RevokedKey           Reason = "revoked-key"
	RotationGraceExpired Reason = "rotation-grace-expired"
	AIDMismatch          Reason = "aid-mismatch"
	BadKeySet            Reason = "bad-keyset"
	NoUsableKey          Reason = "no-usable-key"
	InvalidInput         Reason = "invalid-input"
	InternalError        Reason = "internal"
)

// Reasons is the whole list, for counters that start at zero.
func Reasons() []Reason {
	return []Reason{
		BadOuter, BadVersion, UnknownSuite, WrongRecipient, SealedToUnknownKey, DecryptFailed,
		BadInner, UnknownCriticalField, ToMismatch, BadPad, KELTooLarge, BadKEL, FromMismatch,
		Expired, FromFuture, BadLifetime, BadSig, BadKeyState, RevokedKey, RotationGraceExpired,
		AIDMismatch, BadKeySet, NoUsableKey, InvalidInput, InternalError,
	}
}

// Errorf is a failure for this reason.
func (r Reason) Errorf(format string, args ...any) *errs.Error {
	kind := errs.Invalid
	if r == InternalError {
		kind = errs.Internal
	}
	return errs.New(kind, string(r), format, args...)
}

// ReasonOf is the reason of a failure; one that names none of the list is
// internal, and no failure has none.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	if e := errs.As(err); e != nil && listed[Reason(e.Reason)] {
		return Reason(e.Reason)
	}
	return InternalError
}

var listed = func() map[Reason]bool {
	m := map[Reason]bool{}
	for _, r := range Reasons() {
		m[r] = true
	}
	return m
}()
