// Package testkit holds what tests of several packages need: agents made from
// a number, the moment published vectors were made at, reasons, and patience.
package testkit

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Now is the time most published vectors speak of.
var Now = time.UnixMilli(NowMS)

// NowMS is the same in milliseconds.
const NowMS = 1_767_225_600_000

// Agent is the agent of a number: the same one at every call.
func Agent(t testing.TB, n byte) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.NewChaCha8([32]byte{n}), Now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Rotated is the agent one rotation later.
func Rotated(t testing.TB, c *identity.Controller, at time.Time) *identity.Controller {
	t.Helper()
	next, err := c.Rotate(rand.NewChaCha8([32]byte{0xff, byte(c.Seq())}), at)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// Reason is the stable reason of a failure, its text when it has none, and
// empty without one: tables compare it with what they want.
func Reason(err error) string {
	if e := errs.As(err); e != nil {
		return e.Reason
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
