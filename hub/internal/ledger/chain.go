package ledger

import (
	"fmt"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/payment"
)

// Kinds of links in the chain (wire 2, K.8).
const (
	Issued  = "anet.credit.issued"
	Retired = "anet.credit.retired"
	Opening = "anet.credit.opening" // of ledgers older than their chain; ours have none
)

// payload is what a link says. The chain is public, so its reason is one of ours
// or an operator's, never the name of a capability or a task.
type payload struct {
	AID    string `cbor:"aid"`
	Amount uint64 `cbor:"amount"`
	Reason string `cbor:"reason,omitempty"`
}

// seal implements Seal with the hub's key.
func (l *Ledger) seal(head evidence.Head, issues []Issue) ([]Link, error) {
	hub, err := l.hub()
	if err != nil {
		return nil, err
	}
	links := make([]Link, 0, len(issues))
	for _, i := range issues {
		r, err := evidence.Append(hub, head, i.Kind, payload{i.AID, i.Amount, i.Reason}, i.At)
		if err != nil {
			return nil, fmt.Errorf("sign a link of the chain: %w", err)
		}
		raw, err := r.Encode()
		if err != nil {
			return nil, fmt.Errorf("encode a link of the chain: %w", err)
		}
		head = r.Head()
		links = append(links, Link{Issue: i, Seq: r.Seq, ID: r.ID, Record: raw})
	}
	return links, nil
}

// Circulation is what the chain comes to.
type Circulation struct{ Issued, Retired uint64 }

// Add counts issues. A total that cannot be counted is a Conflict, and nothing of
// it is booked.
func (c Circulation) Add(issues []Issue) (Circulation, error) {
	for _, i := range issues {
		sum := &c.Issued
		if i.Kind == Retired {
			sum = &c.Retired
		}
		if i.Amount > payment.MaxAmount-*sum {
			return c, errs.New(errs.Conflict, "supply_exhausted",
				"a ledger issues %d credits in all, and this would be more", uint64(payment.MaxAmount))
		}
		*sum += i.Amount
	}
	return c, nil
}

// issueOf reads what a record of the chain says.
func issueOf(r evidence.Record) (i Issue, err error) {
	var p payload
	if err := codec.Unmarshal(r.Payload, &p); err != nil {
		return i, fmt.Errorf("its payload: %w", err)
	}
	return Issue{Kind: r.Type, AID: p.AID, Amount: p.Amount, Reason: p.Reason, At: time.UnixMilli(int64(r.Timestamp))}, nil
}

func (i Issue) same(o Issue) bool {
	return i.Kind == o.Kind && i.AID == o.AID && i.Amount == o.Amount && i.Reason == o.Reason && i.At.Equal(o.At)
}
