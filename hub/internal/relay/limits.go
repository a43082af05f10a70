package relay

import (
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// Limits are what an operator may set (wire 2, I.9).
type Limits struct {
	Envelope   int64 // bytes of one envelope
	Messages   int64 // waiting for one recipient
	Bytes      int64 // waiting for one recipient
	Total      int64 // bytes waiting in all mailboxes together
	PollBudget int64 // bytes of envelopes in one answer
	TTL        time.Duration

	QuietAfter time.Duration // without a poll: senders are told
}

// Tell adds what the relay holds requests to. What all mailboxes together may
// hold is the operator's affair.
func (r *Relay) Tell(l *wire.Limits) {
	l.Mailbox = wire.MailboxLimits{
		Envelope: r.Limits.Envelope, Messages: r.Limits.Messages, Bytes: r.Limits.Bytes,
		LifetimeMS: r.Limits.TTL.Milliseconds(), Acks: maxAck,
	}
	l.Pages["messages"] = wire.PageLimit{Default: defaultPage, Most: maxPage, Bytes: r.Limits.PollBudget}
}
