package wire

import (
	"time"

	"github.com/anet-hub/anet/shared/payment"
)

// Actions of signed reads of an account (wire 2, C.2).
const (
	ActionBalance     = "balance"
	ActionLedger      = "ledger"
	ActionRedemptions = "redemptions"
)

// Balance answers GET /agents/{aid}/balance.
type Balance struct {
	AID     string `json:"aid"`
	Credits uint64 `json:"credits"`
}

// LedgerPage answers GET /agents/{aid}/ledger: the newest entries, the oldest of
// them first. Total and Sum are over the whole account.
type LedgerPage struct {
	AID       string        `json:"aid"`
	Entries   []LedgerEntry `json:"entries"`
	Total     int64         `json:"total"`
	Sum       uint64        `json:"sum"`
	Returned  int           `json:"returned"`
	Truncated bool          `json:"truncated,omitempty"`
	Note      string        `json:"note,omitempty"`
}

// LedgerEntry is one line of an account. Transaction is ours: the authorization
// that moved it, if one did.
type LedgerEntry struct {
	Delta       int64     `json:"delta"`
	Reason      string    `json:"reason"`
	At          time.Time `json:"at"`
	Transaction string    `json:"transaction,omitempty"`
}

// Redeem is the body of POST /x402/redeem.
type Redeem struct {
	X402Version    int                     `json:"x402Version"`
	PaymentPayload *payment.PaymentPayload `json:"paymentPayload"`
	Reference      string                  `json:"reference"`
}

// Redemption answers it: credits that left circulation.
type Redemption struct {
	AuthID    string     `json:"auth_id"`
	AID       string     `json:"aid"`
	Amount    uint64     `json:"amount"`
	Reference string     `json:"reference"`
	At        *time.Time `json:"at,omitempty"` // absent where it was refused
	Receipt   []byte     `json:"receipt,omitempty"`
}

// Redemptions answers GET /agents/{aid}/redemptions.
type Redemptions struct {
	Redemptions []Redemption `json:"redemptions"`
	Total       int64        `json:"total"`
	Sum         uint64       `json:"sum"`
	Returned    int          `json:"returned"`
	Truncated   bool         `json:"truncated,omitempty"`
	Note        string       `json:"note,omitempty"`
}

// SupplyPage answers GET /x402/supply.
type SupplyPage struct {
	Hub    string `json:"hub"`
	Supply Supply `json:"supply"`
	Note   string `json:"note"`
}

// Supply is what is in circulation, by the books and by the signed chain.
type Supply struct {
	Issued           uint64 `json:"issued"`
	Redeemed         uint64 `json:"redeemed"`
	Outstanding      int64  `json:"outstanding"`
	Balances         uint64 `json:"balances"`
	OwedByPeers      uint64 `json:"owed_by_peers"`
	DueToPeers       uint64 `json:"due_to_peers"`
	ChainIssued      uint64 `json:"chain_issued"`
	ChainRetired     uint64 `json:"chain_retired"`
	ChainOpening     uint64 `json:"chain_opening,omitempty"`
	ChainOutstanding uint64 `json:"chain_outstanding"`
	ChainAgrees      bool   `json:"chain_agrees"`
	ChainHead        string `json:"chain_head,omitempty"`
	ChainHeadSeq     uint64 `json:"chain_head_seq"`
}

// Issuance answers GET /x402/issuance.
type Issuance struct {
	ChainDID string  `json:"chain_did"`
	Entries  []Issue `json:"entries"`
	HeadID   string  `json:"head_id"`
	HeadSeq  uint64  `json:"head_seq"`
	Note     string  `json:"note"`
}

// Issue is one link of the chain; Record is what was signed (wire 2, B.3).
type Issue struct {
	Seq    uint64    `json:"seq"`
	ID     string    `json:"id"`
	PrevID string    `json:"prev_id"`
	Kind   string    `json:"kind"`
	AID    string    `json:"aid"`
	Amount uint64    `json:"amount"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
	Record []byte    `json:"record"`
}

// ChainHead answers GET /x402/issuance/head. Before the first link Seq is 0.
type ChainHead struct {
	ChainDID string `json:"chain_did"`
	Seq      uint64 `json:"seq"`
	HeadID   string `json:"head_id"`
}

// Witness is the body of POST /x402/witness.
type Witness struct {
	Attestation []byte `json:"attestation"`
}

// Witnessed answers it.
type Witnessed struct {
	Status string `json:"status"`
}

// Witnesses answers GET /x402/witnesses.
type Witnesses struct {
	ChainDID         string            `json:"chain_did"`
	Attestations     []Attestation     `json:"attestations"`
	Health           WitnessHealth     `json:"health"`
	WitnessEndpoints map[string]string `json:"witness_endpoints"`
	Verify           string            `json:"verify"`
	Note             string            `json:"note"`
}

// Attestation is what a witness saw; Attestation is what it signed (wire 2, B.4).
type Attestation struct {
	WitnessAID  string `json:"witness_aid"`
	ChainDID    string `json:"chain_did"`
	Seq         uint64 `json:"seq"`
	HeadID      string `json:"head_id"`
	ObservedAt  uint64 `json:"observed_at"` // ms
	Attestation []byte `json:"attestation"`
}

// WitnessHealth tells how much of the chain others have seen.
type WitnessHealth struct {
	Witnesses          int        `json:"witnesses"`
	Attestations       int64      `json:"attestations"`
	LatestAt           *time.Time `json:"latest_at,omitempty"`
	LatestSeq          uint64     `json:"latest_seq"`
	StaleSeconds       int64      `json:"stale_seconds"`
	UnwitnessedRecords uint64     `json:"unwitnessed_records"`
	WitnessAIDs        []string   `json:"witness_aids"`
}

// Sold is the body of a purchase at the gateway.
type Sold struct {
	Voucher     []byte `json:"voucher"`
	RedeemAt    string `json:"redeem_at"`
	Capability  string `json:"capability"`
	Provider    string `json:"provider"`
	Transaction string `json:"transaction"`
	ExpiresAt   uint64 `json:"expires_at"` // ms
	How         string `json:"how"`
}

// Clear is the body of POST /federation/clear (wire 2, J.6): a receipt by the hub
// that owed.
type Clear struct {
	PeerAID string `json:"peer_aid"`
	Receipt []byte `json:"receipt"`
}

// MoreThanOwed is the code of a statement beyond the debt of who made it: it was not
// taken, now or before.
const MoreThanOwed = "more_than_owed"

// Cleared answers it: what that hub still owes.
type Cleared struct {
	Peer string `json:"peer"`
	Owed uint64 `json:"owed"`
}

// Resources answers GET /discovery/resources, in the form x402 clients know.
type Resources struct {
	X402Version int            `json:"x402Version"`
	Items       []SoldResource `json:"items"`
	Pagination  Pagination     `json:"pagination"`
}

// SoldResource is one capability that is sold through the gateway.
type SoldResource struct {
	Resource    string                 `json:"resource"`
	Type        string                 `json:"type"`
	X402Version int                    `json:"x402Version"`
	Accepts     []payment.Requirements `json:"accepts"`
	LastUpdated int64                  `json:"lastUpdated"` // seconds
	Metadata    ResourceMetadata       `json:"metadata"`
}

// ResourceMetadata is ours: whose capability it is.
type ResourceMetadata struct {
	AID        string `json:"aid"`
	Capability string `json:"capability"`
}

// Pagination says which part of a list is shown.
type Pagination struct {
	Limit  int   `json:"limit"`
	Offset int   `json:"offset"`
	Total  int64 `json:"total"`
}
