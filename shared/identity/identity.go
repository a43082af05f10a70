// Package identity is who signed what: agent ids, key histories (KEL) and the
// signatures made under them (wire 2, sections A and B.1).
//
// An AID is the content id of its first key event, so nobody vouches for it.
// The one rule: a signature counts only after VerifyObject said so against a
// replayed history of the signer; never verify with a bare key.
package identity

import (
	"errors"
	"fmt"
	"strings"
)

// The caps of a key history. They are checked before anything is decoded.
const (
	MaxEvents   = 256
	MaxKELBytes = 65_536
)

const aidLen = 59

// ValidAID reports whether s has the shape of an agent id: b[a-z2-7]{58}.
func ValidAID(s string) bool {
	outside := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') }
	return len(s) == aidLen && s[0] == 'b' && !strings.ContainsFunc(s, outside)
}

// Code is why a signature does not count.
type Code string

// The codes of section A.4.
const (
	UnknownAID        Code = "UNKNOWN_AID"
	KeyStateDowngrade Code = "KEY_STATE_DOWNGRADE"
	InvalidSignature  Code = "INVALID_SIGNATURE"
	RevokedKey        Code = "REVOKED_KEY"
)

// VerifyError is a signature refused.
type VerifyError struct {
	Code Code
	Why  string
}

func (e *VerifyError) Error() string { return string(e.Code) + ": " + e.Why }

func refuse(code Code, format string, args ...any) error {
	return &VerifyError{code, fmt.Sprintf(format, args...)}
}

// CodeOf is the code in err's chain, empty when there is none.
func CodeOf(err error) Code {
	var v *VerifyError
	if errors.As(err, &v) {
		return v.Code
	}
	return ""
}
