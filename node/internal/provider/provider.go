// Package provider is what stands behind a capability: something that answers
// calls of the ids it names. The daemon knows nothing more of it; a program on
// a socket, a device and a command are the same to it.
//
// The rule for whoever calls one: admission, price and listing are decided by
// the id as called, before a provider is looked for.
package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/task"
)

// Provider answers calls. Its methods may be called at the same time.
type Provider interface {
	// ID names the provider in logs and in the node's status.
	ID() string
	// Capabilities are the ids answered now, sorted.
	Capabilities() []string
	// Describe is what the public card says of an id, which may lie below one
	// of Capabilities. Empty members get the card's defaults.
	Describe(capID string) card.Skill
	// Invoke runs one call to its end or to that of ctx. It never panics and
	// never claims more than it knows: an error after the work may have begun is
	// Unverified, only what certainly did nothing is Unavailable.
	Invoke(ctx context.Context, call Call) Outcome
	// Health says why calls would be Unavailable now, nil when they would not.
	Health(ctx context.Context) error
}

// Priced is a provider that charges for some of its ids. It must know the price
// of every id it answers, also of those below the ones it names.
type Priced interface {
	// Price is in credits; false when the id is free.
	Price(capID string) (uint64, bool)
}

// Timed is a provider whose calls may take long.
type Timed interface {
	// Limit is the most one call takes. Above ShortCall the call is run at most
	// once and reported as working meanwhile.
	Limit(capID string) time.Duration
}

// ShortCall is the limit up to which a call is short (wire 2, G.4).
const ShortCall = time.Minute

// Call is one admitted call.
type Call struct {
	Capability string          // the id as called
	Args       json.RawMessage // a JSON object
	Caller     string          // AID
	TaskID     string
	Files      []task.Attachment
}

// Outcome is what a call did, before it gets a nonce and a receipt.
type Outcome struct {
	Status     effect.Status
	Reason     task.Reason
	Message    string
	Verifiable bool
	Metrics    json.RawMessage // an object, or nil
	Evidence   *effect.Evidence
	RetryAfter time.Duration
}

// Unavailable is the outcome of a call that certainly did nothing.
func Unavailable(reason task.Reason, message string) Outcome {
	return Outcome{Status: effect.Unavailable, Reason: reason, Message: message}
}

// Unverified is the outcome of a call that nobody can tell the effect of.
func Unverified(reason task.Reason, message string) Outcome {
	return Outcome{Status: effect.Unverified, Reason: reason, Message: message}
}

// PriceOf is the price of an id at its provider; false when it is free.
func PriceOf(p Provider, capID string) (uint64, bool) {
	if priced, ok := p.(Priced); ok {
		return priced.Price(capID)
	}
	return 0, false
}

// LimitOf is the most a call may take: what the provider says, else ShortCall.
func LimitOf(p Provider, capID string) time.Duration {
	if timed, ok := p.(Timed); ok {
		return timed.Limit(capID)
	}
	return ShortCall
}
