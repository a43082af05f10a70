package wire

import (
	"encoding/json"
	"time"
)

// Formats of an entry of the second card stream (wire 2, J.4). A reader skips
// others.
const (
	FormatA2ACard    = "a2a-card/1"
	FormatWithdrawal = "withdrawal/1"
)

// FedCards is a page of both card streams (wire 2, J.4). Cursor is where the next
// one begins: the one asked for when there is nothing behind it.
type FedCards struct {
	Cursor int64     `json:"cursor"`
	Cards  []FedCard `json:"cards"`
}

// FedCard is one agent of a hub that its peers may learn of. The first stream
// has older cards and no Format.
type FedCard struct {
	Format string  `json:"format,omitempty"`
	Card   RawJSON `json:"card"`
	KEL    []byte  `json:"kel,omitempty"`
	Keys   []byte  `json:"keys,omitempty"`
	Home   string  `json:"home"`
	FedSeq int64   `json:"fed_seq"`
}

// Withdrawal is the card of an entry that takes an earlier one back. At is RFC
// 3339 where we write it; nobody should depend on it.
type Withdrawal struct {
	Action  string  `json:"action"`
	AgentID string  `json:"agent_id"`
	Reason  string  `json:"reason"`
	At      RawJSON `json:"at,omitzero"`
}

// ActionWithdraw is the action of every Withdrawal.
const ActionWithdraw = "withdraw"

// NewWithdrawal takes back what was told of an agent.
func NewWithdrawal(aid, reason string, at time.Time) Withdrawal {
	text, _ := json.Marshal(at.UTC().Truncate(time.Millisecond)) // a time of ours has a year of four digits
	return Withdrawal{Action: ActionWithdraw, AgentID: aid, Reason: reason, At: text}
}

// FedReviews is a page of the review stream (wire 2, J.4).
type FedReviews struct {
	Cursor  int64       `json:"cursor"`
	Reviews []FedReview `json:"reviews"`
}

// FedReview is one review with all that is needed to verify it.
type FedReview struct {
	Receipt     []byte `json:"receipt"`
	Review      []byte `json:"review"`
	ProviderKEL []byte `json:"provider_kel"`
	ReviewerKEL []byte `json:"reviewer_kel"`
	FedSeq      int64  `json:"fed_seq"`
}
