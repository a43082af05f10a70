package task

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// MaxMetadata bounds the metadata read from a peer: a small object costs many
// times its own size in memory while it is checked.
const MaxMetadata = 1 << 20

// The reserved names of section F.7.
const (
	KeyState             = "anet.state"
	KeyFinal             = "anet.final"
	KeyEffectStatus      = "anet.effect_status"
	KeyReason            = "anet.reason"
	KeyRetryAfter        = "anet.retry_after_ms"
	KeyInbound           = "anet.inbound"
	KeyA2AError          = "anet.a2aError"
	KeyServiceParameters = "a2a.serviceParameters"
	KeyMessageID         = "a2a.messageId" // local only, never sent

	KeyPaymentStatus   = "x402.payment.status"
	KeyPaymentRequired = "x402.payment.required"
	KeyPaymentPayload  = "x402.payment.payload"
	KeyPaymentReceipts = "x402.payment.receipts"
	KeyPaymentError    = "x402.payment.error"
	KeyPaymentAccept   = "anet.payment.accept"     // local only, never sent
	KeyQuoteExpires    = "anet.payment.expires_at" // ms, beside a quote
)

// PendingApproval is what KeyInbound says of a task a person has yet to accept.
const PendingApproval = "pending_approval"

// The A2A errors a status message may name (KeyA2AError).
const (
	TaskNotFoundError        = "TaskNotFoundError"
	VersionNotSupportedError = "VersionNotSupportedError"
)

// Metadata is the JSON object beside a body.
type Metadata map[string]json.RawMessage

// ParseMetadata reads it only when every reader reads it alike: an object that
// two programs understand differently would let a peer show one thing to the
// check and another to the work. No bytes are an empty object.
func ParseMetadata(b []byte) (Metadata, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if len(b) > MaxMetadata {
		return nil, badMetadata("is larger than %d bytes", MaxMetadata)
	}
	var m Metadata
	if err := codec.UnmarshalObject(b, &m); err != nil {
		return nil, badMetadata("is no object that reads in one way only").Because(err)
	}
	return m, nil
}

// Bytes is the object for the wire; an empty one is left out of its body.
func (m Metadata) Bytes() ([]byte, error) {
	if len(m) == 0 {
		return nil, nil
	}
	return codec.MarshalJSON(m)
}

// With gives a copy that says one thing more.
func (m Metadata) With(key string, value any) (Metadata, error) {
	raw, err := codec.MarshalJSON(value)
	if err != nil {
		return nil, err
	}
	out := make(Metadata, len(m)+1)
	for k, v := range m {
		out[k] = v
	}
	out[key] = raw
	return out, nil
}

// Text is a member that is a string; anything else is "".
func (m Metadata) Text(key string) string {
	var s string
	if json.Unmarshal(m[key], &s) != nil {
		return ""
	}
	return s
}

// Flag is a member that is true.
func (m Metadata) Flag(key string) bool { return string(m[key]) == "true" }

// Number is a member that is a whole number, written as a number or, above
// 2^53, as a decimal string.
func (m Metadata) Number(key string) (uint64, bool) {
	raw := string(m[key])
	if s := m.Text(key); s != "" {
		raw = s
	}
	n, err := strconv.ParseUint(raw, 10, 64)
	return n, err == nil
}

// State is the state the sender asks for, "" when it asks for none.
func (m Metadata) State() State { return State(m.Text(KeyState)) }

// Reason is why, "" when nothing is said.
func (m Metadata) Reason() Reason { return Reason(m.Text(KeyReason)) }

// RetryAfter is the hint when to ask again, zero when there is none. A hint
// beyond a day is a day: nobody plans further.
func (m Metadata) RetryAfter() time.Duration {
	ms, ok := m.Number(KeyRetryAfter)
	if !ok {
		return 0
	}
	return time.Duration(min(ms, uint64(24*time.Hour/time.Millisecond))) * time.Millisecond
}

// Pays reports whether the message belongs to a payment.
func (m Metadata) Pays() bool {
	for k := range m {
		if strings.HasPrefix(k, "x402.") {
			return true
		}
	}
	return false
}

// A2AError is the A2A error the sender names, with the suffix some leave out.
func (m Metadata) A2AError() string {
	name := m.Text(KeyA2AError)
	if name == "" || strings.HasSuffix(name, "Error") {
		return name
	}
	return name + "Error"
}

// SpeaksA2A reports whether the version of A2A the client asks for is 1.x; one
// that asks for none means 1.0.
func (m Metadata) SpeaksA2A() bool {
	for _, v := range m.ServiceParameters()["a2a-version"] {
		if !strings.HasPrefix(v, "1.") {
			return false
		}
	}
	return true
}

// ServiceParameters are the A2A parameters under lower-case names: a client
// may write a name in any case.
func (m Metadata) ServiceParameters() map[string][]string {
	var raw map[string]json.RawMessage
	if json.Unmarshal(m[KeyServiceParameters], &raw) != nil {
		return nil
	}
	out := make(map[string][]string, len(raw))
	for name, v := range raw {
		if values := oneOrMore(v); values != nil {
			out[strings.ToLower(name)] = values
		}
	}
	return out
}

func oneOrMore(raw json.RawMessage) []string {
	var one *string
	if json.Unmarshal(raw, &one) == nil {
		if one == nil {
			return nil
		}
		return []string{*one}
	}
	var many []string
	if json.Unmarshal(raw, &many) != nil {
		return nil
	}
	return many
}

func badMetadata(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "bad-metadata", "the metadata "+format, args...)
}
