package ledger

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/evidence"
)

// Store keeps the books. Whatever moves credits is one transaction: all of it is
// there afterwards, or nothing. While the ledger is read only it fails with
// ReadOnly.
type Store interface {
	Books
	Clearing
	Owners
	Public
	Selling
	Witnessing

	// Standing reads, as of one moment, what a payment is judged by.
	Standing(ctx context.Context, q Question) (Standing, error)

	// Settle moves an authorization. Of any number at once that bring the same one
	// a single one moves it, and all get what is on record: fresh tells whether it
	// was this call. A binding that was used up and a balance that does not cover
	// the amount are a *Refusal.
	Settle(ctx context.Context, s Settlement) (kept Settlement, fresh bool, err error)

	// Redeem takes credits out of circulation: like Settle, with a link of the
	// chain that seal signs.
	Redeem(ctx context.Context, s Settlement, r Redemption, seal Seal) (kept Redemption, fresh bool, err error)

	// Redemption is the one that an authorization was settled for.
	Redemption(ctx context.Context, authID string) (Redemption, error)

	// GrantMember books an operator's grant and who gave it. An AID that never
	// registered is NotFound, and a total beyond what can be counted is a Conflict,
	// reason supply_exhausted.
	GrantMember(ctx context.Context, i Issue, act audit.Act, seal Seal) (balance uint64, err error)

	// BookGrants books up to n registration grants that are due, and tells how many
	// it took. With an amount of 0 they are let go. An AID is granted once.
	BookGrants(ctx context.Context, amount uint64, n int, at time.Time, seal Seal) (taken int, err error)

	// GrantsDue counts the grants that wait, and tells whether nothing may be booked.
	GrantsDue(ctx context.Context) (n int64, readOnly bool, err error)

	// Seller is what is known of an agent that sells; NotFound where it is not
	// registered here.
	Seller(ctx context.Context, aid string, now time.Time) (Seller, error)
}

// Owners is what agents see of what is theirs.
type Owners interface {
	// Remember uses up the proof of a request that changes nothing.
	Remember(ctx context.Context, p replay.Proof) error
	// Account reads one; an AID without is one with nothing.
	Account(ctx context.Context, aid string) (Account, error)
	// Entries gives the last n entries of an account, the oldest of them first.
	Entries(ctx context.Context, aid string, n int) ([]Entry, error)
	// Redemptions gives the last n of an agent, the oldest of them first, and what
	// all of them come to.
	Redemptions(ctx context.Context, aid string, n int) (page []Redemption, total Sum, err error)
}

// Public is what the ledger shows everybody.
type Public interface {
	// Totals reads the ledger's own counters and the sum of all balances as of one
	// moment.
	Totals(ctx context.Context) (Totals, error)
	// Head is the end of the chain.
	Head(ctx context.Context) (seq uint64, id string, err error)
	// Links gives up to n links of the chain from a number on.
	Links(ctx context.Context, from uint64, n int) ([]Link, error)

	// Attest keeps a witness's word; the same one again changes nothing.
	Attest(ctx context.Context, a Attested) error
	// LinkID is the id of a link of the chain, empty where there is none.
	LinkID(ctx context.Context, seq uint64) (string, error)
	// Attestations gives the last n, the latest first.
	Attestations(ctx context.Context, n int) ([]Attested, error)
	// Witnesses sums them up.
	Witnesses(ctx context.Context) (Witnesses, error)
}

// Question says whose payment is judged.
type Question struct {
	AuthID, Payer, PayTo, Interaction string
	At                                time.Time
}

// Standing is what a payment is judged by.
type Standing struct {
	KEL      []byte // of the payer, nil for one that never registered here
	Left     bool   // it is not registered any more
	Blocked  bool
	Balance  uint64
	Settled  *Settlement // of this very authorization
	Bound    string      // the transaction that used up the binding
	ReadOnly bool
	PayTo    bool // the payee has an account
	Known    bool // it is or was registered here
}

// Settlement is an authorization that moved.
type Settlement struct {
	AuthID, Payer, PayTo string
	Amount               uint64
	Interaction          string
	Signed, Receipt      []byte
	At                   time.Time

	Capability string // what was bought for it at the gateway
	Voucher    []byte
	DueTo      string // the hub whose agent was paid, where that is another one
}

// Redemption is credits that left circulation.
type Redemption struct {
	AuthID, AID string
	Amount      uint64
	Reference   string
	At          time.Time
	Receipt     []byte
}

// Account is what an agent holds.
type Account struct {
	Balance uint64
	Entries int64
}

// Sum is a number of things and what they come to.
type Sum struct {
	Count  int64
	Amount uint64
}

// Entry is one line of an account.
type Entry struct {
	N      int64
	Delta  int64
	Reason string
	AuthID string // the authorization that moved it, if one did
	At     time.Time
}

// Reasons of entries. They are shown to the owner of the account alone.
const (
	ReasonRegistration = "registration grant"
	ReasonGrant        = "operator grant"
	ReasonPaid         = "payment sent"
	ReasonReceived     = "payment received"
	ReasonRedeemed     = "redemption"
)

// Issue is credits that enter circulation or leave it. Its reason is public.
type Issue struct {
	Kind   string
	AID    string
	Amount uint64
	Reason string
	At     time.Time
}

// Link is an issue in the chain.
type Link struct {
	Issue
	Seq    uint64
	ID     string
	Record []byte
}

// Seal signs issues as the links that follow a head. The caller holds the end of
// the chain meanwhile.
type Seal func(head evidence.Head, issues []Issue) ([]Link, error)

// Seller is an agent that may sell.
type Seller struct {
	KEL, Card []byte // Card is the older one, nil where there is none
	Blocked   bool
}

// Attested is a witness's word as it was signed.
type Attested struct {
	Witness    string
	Seq        uint64
	HeadID     string
	ObservedAt time.Time
	Signed     []byte
}

// Witnesses are all attestations in sum.
type Witnesses struct {
	AIDs      []string
	Count     int64
	LatestAt  time.Time
	LatestSeq uint64
}
