package outbound

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// maxSettlement is a settlement with its receipt, and room around them.
const maxSettlement = 64 << 10

// What strangers have one peer asked at once, and how much of it waits: half of what
// a peer is called at once with, so that mail goes on beside it.
const (
	strangersAtOnce  = 8
	strangersWaiting = 64
)

// Ledgers are those of peers (ledger.Peers).
type Ledgers struct {
	client    *Client
	table     *peers.Table
	circuits  forward.Circuits
	strangers forward.Circuits // for what anybody can have asked
	replay    func(kel []byte) (*identity.History, error)
}

// NewLedgers makes them.
func NewLedgers(c *Client, t *peers.Table, circuits forward.Circuits, replay func([]byte) (*identity.History, error)) *Ledgers {
	return &Ledgers{c, t, circuits, forward.NewLane(circuits, strangersAtOnce, strangersWaiting), replay}
}

// All implements ledger.Peers: those that take part in anything now.
func (l *Ledgers) All() (aids []string) {
	for _, p := range l.table.All() {
		if p.Proven() && !p.Paused {
			aids = append(aids, p.AID)
		}
	}
	return aids
}

// History implements ledger.Peers.
func (l *Ledgers) History(aid string) (*identity.History, bool) {
	p, ok := l.table.ByAID(aid)
	if !ok || !p.Proven() {
		return nil, false
	}
	h, err := l.replay(p.KEL)
	return h, err == nil
}

// Name implements ledger.Peers.
func (l *Ledgers) Name(aid string) string {
	p, _ := l.table.ByAID(aid)
	return p.Name
}

// Endpoint implements ledger.Peers.
func (l *Ledgers) Endpoint(aid string) string {
	p, _ := l.table.ByAID(aid)
	return p.Endpoint
}

// Settle implements ledger.Peers.
func (l *Ledgers) Settle(ctx context.Context, hub string, req payment.FacilitatorRequest) (s payment.SettlementResponse, err error) {
	status, body, err := l.post(ctx, l.strangers, hub, "/x402/settle", req)
	if err != nil {
		return s, err
	}
	s, err = payment.ParseSettlement(body)
	if err != nil || status != http.StatusOK && status != http.StatusBadRequest || !s.Success && s.ErrorReason == "" {
		return payment.SettlementResponse{}, noLedger()
	}
	return s, nil
}

// Verify implements ledger.Peers.
func (l *Ledgers) Verify(ctx context.Context, hub string, req payment.FacilitatorRequest) (v payment.VerifyResponse, err error) {
	status, body, err := l.post(ctx, l.strangers, hub, "/x402/verify", req)
	if err == nil && (status != http.StatusOK || codec.UnmarshalObject(body, &v) != nil || !v.IsValid && v.InvalidReason == "") {
		err = noLedger()
	}
	return v, err
}

// HomeOf implements ledger.Peers. A peer that cannot be asked may be the one, so
// nobody else's no is an answer then.
func (l *Ledgers) HomeOf(ctx context.Context, hubs []string, aid string) (home string, err error) {
	var failed error
	for _, hub := range hubs {
		status, body, err := l.post(ctx, l.strangers, hub, "/agents/kel:lookup", wire.Lookup{AID: aid})
		var kel wire.KEL
		switch {
		case err != nil:
			failed = err
		case status == http.StatusNotFound:
		case status != http.StatusOK || codec.UnmarshalObject(body, &kel) != nil:
			failed = noLedger()
		case kel.AID == aid && kel.Source == "local":
			return hub, nil
		}
	}
	return "", failed
}

// Clear implements ledger.Peers.
func (l *Ledgers) Clear(ctx context.Context, hub, self string, receipt []byte) error {
	status, answer, err := l.post(ctx, l.circuits, hub, "/federation/clear", wire.Clear{PeerAID: self, Receipt: receipt})
	var p wire.Problem
	if err == nil && status == http.StatusBadRequest && codec.UnmarshalObject(answer, &p) == nil && p.Code == wire.MoreThanOwed {
		return errs.New(errs.Invalid, wire.MoreThanOwed, "the peer says that it is owed less than that")
	}
	return accepted(status, err)
}

// Head implements ledger.Peers.
func (l *Ledgers) Head(ctx context.Context, hub string) (head wire.ChainHead, err error) {
	err = l.try(ctx, l.circuits, hub, func(ctx context.Context, p peers.Peer) error {
		status, body, err := l.client.Get(ctx, p.Endpoint+"/x402/issuance/head", maxSettlement)
		if err == nil && (status != http.StatusOK || codec.UnmarshalObject(body, &head) != nil) {
			err = noLedger()
		}
		return err
	})
	return head, err
}

// Witness implements ledger.Peers.
func (l *Ledgers) Witness(ctx context.Context, hub string, attestation []byte) error {
	status, _, err := l.post(ctx, l.circuits, hub, "/x402/witness", wire.Witness{Attestation: attestation})
	return accepted(status, err)
}

func (l *Ledgers) post(ctx context.Context, by forward.Circuits, hub, path string, v any) (status int, answer []byte, err error) {
	body, err := json.Marshal(v)
	if err != nil {
		return 0, nil, err
	}
	err = l.try(ctx, by, hub, func(ctx context.Context, p peers.Peer) (err error) {
		status, answer, err = l.client.Post(ctx, p.Endpoint+path, body, maxSettlement)
		return err
	})
	return status, answer, err
}

func (l *Ledgers) try(ctx context.Context, by forward.Circuits, hub string, do func(context.Context, peers.Peer) error) error {
	p, ok := l.table.ByAID(hub)
	if !ok || !p.Proven() {
		return errs.New(errs.Unavailable, "peer_not_answering", "that hub is no proven peer")
	}
	return by.Try(ctx, p, func(ctx context.Context) error { return do(ctx, p) })
}

// accepted is what became of something that needs no answer. What the peer wrote is
// not repeated.
func accepted(status int, err error) error {
	if err == nil && status/100 != 2 {
		err = errs.New(errs.BadGateway, "peer_refused", "the peer did not take it: it answered %d", status)
	}
	return err
}

func noLedger() error {
	return errs.New(errs.BadGateway, "peer_no_ledger", "the peer's answer is none of a ledger's")
}
