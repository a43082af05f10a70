package moderation

import (
	"net/netip"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// Block refuses what its target asks for: to register, to send, to poll, and
// whatever else is signed.
type Block struct {
	Target
	Why   string // in the operator's words, for operators
	At    time.Time
	Until time.Time // zero for no end
}

// Visitor is who asks for something: the AID it claims, the address it asks from,
// and when. The zero address is in no range.
type Visitor struct {
	AID  string
	From netip.Addr
	At   time.Time
}

// Refusal is the answer to whom the block holds for. It tells what is blocked and
// how long, and keeps the operator's words to operators.
func (b Block) Refusal() error {
	what := "this agent"
	if b.Kind() == KindHost {
		what = "this address"
	}
	if b.Until.IsZero() {
		return errs.New(errs.Forbidden, "blocked", "%s is blocked by the hub's operator", what)
	}
	until := b.Until.UTC().Format(time.RFC3339)
	return errs.New(errs.Forbidden, "blocked", "%s is blocked by the hub's operator until %s", what, until).With("until", until)
}

// AlreadyBlocked is the failure to block twice. Each act names exactly one target, and one that changes
// nothing is an error: the operator believed otherwise.
func AlreadyBlocked() error {
	return errs.New(errs.Conflict, "blocked_already", "this is blocked already; to change reason or end, lift that block first")
}

// NotBlocked is the failure to lift a block that is not there.
func NotBlocked() error {
	return errs.New(errs.NotFound, "not_blocked", "this is not blocked: see anet-hub block list")
}

// AlreadyHidden is the failure to hide twice.
func AlreadyHidden() error {
	return errs.New(errs.Conflict, "hidden_already", "this agent is hidden already").In("aid")
}

// NotHidden is the failure to show who is not hidden.
func NotHidden() error {
	return errs.New(errs.Conflict, "not_hidden", "this agent is not hidden").In("aid")
}

// NeverHere is the failure of an act on an AID that never registered.
func NeverHere() error {
	return errs.New(errs.NotFound, "agent_unknown", "no agent with this AID was ever registered here").In("aid")
}

// NotRegistered is the failure to remove who is not here.
func NotRegistered() error {
	return errs.New(errs.NotFound, "not_registered", "no agent with this AID is registered here").In("aid")
}
