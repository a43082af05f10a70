// Package audit is the memory of what operators did to a hub.
//
// The one rule: an act is written down in the transaction of its effect, so
// neither is there without the other. It names people, targets and reasons, and
// never a secret.
package audit

import (
	"time"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/errs"
)

// By is who acts, how they reached the hub, and why, in their own words.
type By struct {
	Who, How, Why string
}

// Act is one thing that was done.
type Act struct {
	By
	ID     int64
	At     time.Time
	What   string // noun.verb, as invite.revoke
	Target string // what it was done to; empty for the hub itself
	Detail map[string]any
}

// Did makes an act out of who does it.
func (b By) Did(what, target string, at time.Time) Act {
	return Act{By: b, At: at, What: what, Target: target}
}

// With adds a detail.
func (a Act) With(name string, value any) Act {
	detail := map[string]any{name: value}
	for k, v := range a.Detail {
		detail[k] = v
	}
	a.Detail = detail
	return a
}

// maxReason bounds a reason, in bytes.
const maxReason = 1024

// Check holds a reason to its bounds.
func (b By) Check() error {
	if len(b.Why) > maxReason || !utf8.ValidString(b.Why) {
		return errs.New(errs.Invalid, "reason_invalid", "a reason is text of %d bytes at most", maxReason).In("reason")
	}
	return nil
}

// Question asks for acts, the newest first.
type Question struct {
	Since time.Time // the zero time for all
	Limit int
}
