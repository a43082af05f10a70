package task

import "fmt"

// Reason says in one stable word why a task did not go on (sections L.3 and
// G.3). A peer may send one that is not in the list: it is shown as it stands
// and never mapped to a neighbour.
type Reason string

// Refusals of a request. No work was begun.
const (
	NotAccepting        Reason = "not_accepting"
	Denied              Reason = "denied"
	CapabilityNotPublic Reason = "capability_not_public"
	PendingApprovalHeld Reason = "pending_approval"
	PendingFull         Reason = "pending_full"
	PendingExpired      Reason = "pending_expired"
	OperatorRejected    Reason = "operator_rejected"
	SandboxUnavailable  Reason = "sandbox_unavailable"
	TaskNonceRequired   Reason = "task_nonce_required"

	ArgsTooLarge      Reason = "args_too_large"
	MaxInflight       Reason = "max_inflight"
	QuotaCallerMinute Reason = "quota_caller_per_min"
	QuotaCallerDay    Reason = "quota_caller_per_day"
	QuotaGlobalMinute Reason = "quota_global_per_min"
)

// What became of a call that was taken, or never arrived.
const (
	NoResponse          Reason = "no_response" // said by the requester's own node
	Undeliverable       Reason = "undeliverable"
	Unavailable         Reason = "unavailable"
	CapabilityNotServed Reason = "capability_not_served"
	PaymentsUnavailable Reason = "payments_unavailable"
	Interrupted         Reason = "interrupted"
	Timeout             Reason = "timeout"
	ConnectionLost      Reason = "connection_lost"
	Accepted            Reason = "accepted"
	BadAnswer           Reason = "bad_answer"
	RefusedByService    Reason = "refused_by_service"
	ServiceError        Reason = "service_error"
	BackendFailed       Reason = "backend_failed"
	Budget              Reason = "budget"
)

// What became of a payment (sections K.3 and K.6).
const (
	InsufficientFunds   Reason = "insufficient_funds"
	InvalidSignature    Reason = "invalid_signature"
	ExpiredPayment      Reason = "expired_payment"
	DuplicateNonce      Reason = "duplicate_nonce"
	DuplicateBinding    Reason = "duplicate_binding"
	NetworkMismatch     Reason = "network_mismatch"
	InvalidAmount       Reason = "invalid_amount"
	PayeeMismatch       Reason = "payee_mismatch"
	PayerMismatch       Reason = "payer_mismatch"
	BindingMismatch     Reason = "binding_mismatch"
	UnsupportedScheme   Reason = "unsupported_scheme"
	UnknownPayer        Reason = "unknown_payer"
	MalformedPayment    Reason = "malformed_payment"
	InvalidRequirements Reason = "invalid_payment_requirements"
	SettlementFailed    Reason = "settlement_failed"
	SettlementPending   Reason = "settlement_pending"
	NoPendingQuote      Reason = "no_pending_quote"
	QuoteExpired        Reason = "quote_expired"
	RailNotPayable      Reason = "rail_not_payable"
)

// Why this node did not pay by itself. No other node says so.
const (
	PaymentOverLimit Reason = "payment_over_limit"
	PayeeNotListed   Reason = "payee_not_listed"
	QuoteAbovePrice  Reason = "quote_above_price"
)

// sentences tell the requester what happened and what to do.
var sentences = map[Reason]string{
	NotAccepting:        "The provider takes no tasks from this node. Ask its operator to run: anet peers allow <your AID>.",
	Denied:              "The provider has blocked this node. Trying again does not help; talk to its operator.",
	CapabilityNotPublic: "The provider does not offer this capability to strangers. Look for another provider, or ask its operator to allow this node.",
	PendingApprovalHeld: "The provider holds the task until its operator decides. Nothing is wrong: wait.",
	PendingFull:         "The provider has too many tasks waiting for its operator. Try again later.",
	PendingExpired:      "The provider's operator did not decide in time and the task was not run. Send it again if it is still wanted.",
	OperatorRejected:    "The provider's operator looked at the task and refused it.",
	SandboxUnavailable:  "The provider cannot run foreign tasks safely at the moment. Try again later or elsewhere.",
	TaskNonceRequired:   "The call has a price and the request carried no nonce to bind a payment to. Send it again from a current node.",

	ArgsTooLarge:      "The arguments are larger than the provider takes. Send less.",
	MaxInflight:       "The provider is busy with as many calls as it takes at once. Try again after the time given.",
	QuotaCallerMinute: "This node called too often in this minute. Try again after the time given.",
	QuotaCallerDay:    "This node used up its calls for today. Try again after the time given.",
	QuotaGlobalMinute: "The provider takes no more calls in this minute from anybody. Try again after the time given.",

	NoResponse:          "The provider did not answer. Whether it acted is unknown: ask before trying again.",
	Undeliverable:       "The request could not be delivered. Check the AID, and that the provider is registered at a hub.",
	Unavailable:         "The provider cannot do this at the moment and has not tried. Try again later.",
	CapabilityNotServed: "Nothing at the provider answers this capability. Check the id, or find who serves it with: anet find --cap.",
	PaymentsUnavailable: "The call has a price and the provider cannot take payments now. Nothing was charged; try again later.",
	Interrupted:         "The provider stopped while it worked. The effect may have happened: check before trying again.",
	Timeout:             "The work took longer than its limit. The effect may have happened: check before trying again.",
	ConnectionLost:      "The provider lost the connection to what does the work. The effect may have happened: check before trying again.",
	Accepted:            "What does the work accepted the call and has not reported the end. Check the effect yourself.",
	BadAnswer:           "What does the work answered something unreadable. The effect may have happened: check before trying again.",
	RefusedByService:    "What does the work refused the call; its words stand beside this. Nothing happened: correct the call.",
	ServiceError:        "What does the work failed inside. The effect may have happened: check before trying again.",
	BackendFailed:       "What does the work failed. Check the effect before trying again.",
	Budget:              "The provider has used up what it may spend on such tasks. Try again later or elsewhere.",

	InsufficientFunds:   "The balance is too small for the price. Top it up, then pay again.",
	InvalidSignature:    "The payment's signature does not hold. Pay again from a node whose keys are current.",
	ExpiredPayment:      "The payment was outside its time. Check the clock, then pay again.",
	DuplicateNonce:      "This payment was used before. Nothing was charged twice.",
	DuplicateBinding:    "This task was paid before. Nothing was charged twice.",
	NetworkMismatch:     "The payment is for a network that was not quoted, or that the provider's hub takes no more. Send the call again to get a new quote.",
	InvalidAmount:       "The amount is out of range or below the quote. Pay what the quote asks for.",
	PayeeMismatch:       "The payment goes to somebody else than the provider, or this node's hub does not clear with the provider's. Nothing was charged; ask for a new quote.",
	PayerMismatch:       "The payment was signed by another node than the one that asked. Pay from the node that asked.",
	BindingMismatch:     "The payment belongs to another task. Pay this one on its own.",
	UnsupportedScheme:   "The way of paying is not supported here. Choose one of the options quoted.",
	UnknownPayer:        "The hub does not know the payer. Register at the hub that keeps the account, then pay again.",
	MalformedPayment:    "The payment cannot be read. Pay again from a current node.",
	InvalidRequirements: "The quote cannot be read. Ask for a new one.",
	SettlementFailed:    "The payment failed. Nothing was charged; try again later.",
	SettlementPending:   "The outcome of the payment is not known yet. Wait: do not pay again.",
	NoPendingQuote:      "No quote is open for this task. Send the call again to get one.",
	QuoteExpired:        "The quote has expired. Send the call again to get a new one.",
	RailNotPayable:      "The provider takes no credits of this node's hub. Nothing was signed; the operators of both hubs can agree to clear: anet-hub credit allow.",

	PaymentOverLimit: "The price is more than was agreed to, or than the limits of this node allow: anet payments show. Nothing was signed; to pay it all the same: anet pay TASK.",
	PayeeNotListed:   "This node pays by itself only who is on its list of payees. Nothing was signed; to pay this once: anet pay TASK.",
	QuoteAbovePrice:  "The quote is above the price on the provider's signed card. Nothing was signed; to pay it all the same: anet pay TASK.",
}

// Known reports whether r is in the list.
func (r Reason) Known() bool { return sentences[r] != "" }

// Sentence says what happened and what to do, for people. A reason that is not
// in the list is quoted.
func (r Reason) Sentence() string {
	if s := sentences[r]; s != "" {
		return s
	}
	if r == "" {
		return "No reason was given."
	}
	return fmt.Sprintf("The other side says: %q.", clip(string(r), 280))
}

// clip cuts a peer's words to n characters.
func clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
