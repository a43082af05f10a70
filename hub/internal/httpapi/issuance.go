package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/wire"
)

// issuanceRoutes are what the ledger shows everybody (wire 2, K.8).
func (p *Payments) issuanceRoutes(a *API, r chi.Router) {
	r.Get("/x402/supply", a.open(p.supply))
	r.Get("/x402/issuance", a.open(p.issuance))
	r.Get("/x402/issuance/head", a.open(p.head))
	r.Post("/x402/witness", a.open(p.witness))
	r.Get("/x402/witnesses", a.open(p.witnesses))
	r.Post("/federation/clear", a.open(p.clear))
}

const (
	noteSupply = "credits are this hub's own promise and worth what it makes of them; every one in circulation " +
		"stands in the signed chain at /x402/issuance"
	noteIssuance  = "a record is signed by this hub and follows the one before; what was cut off the end only witnesses can tell"
	noteWitnesses = "an attestation is another hub's word that the chain had this head"
	howToWitness  = "verify each attestation under the key history of its witness, asked for at the witness itself"
)

// supply serves GET /x402/supply.
func (p *Payments) supply(w http.ResponseWriter, r *http.Request) error {
	key := p.api.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	s, err := p.Ledger.Supply(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.SupplyPage{Hub: key.AID(), Note: noteSupply, Supply: wire.Supply{
		Issued: s.Issued, Redeemed: s.Redeemed, Outstanding: s.Outstanding(), Balances: s.Balances,
		OwedByPeers: s.OwedTo, DueToPeers: s.Owes, ChainIssued: s.Issued, ChainRetired: s.Retired,
		ChainOutstanding: s.Chain(), ChainAgrees: s.Agrees(), ChainHead: s.HeadID, ChainHeadSeq: s.HeadSeq,
	}})
}

// issuance serves GET /x402/issuance?from=.
func (p *Payments) issuance(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	from := uint64(1)
	if q.Has("from") {
		if from, err = fromOf(q.Get("from")); err != nil {
			return err
		}
	}
	key := p.api.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	release, err := p.api.Budget.Take(ledger.ChainPage * ledger.LinkBytes)
	if err != nil {
		return err
	}
	defer release()
	links, err := p.Ledger.Issuance(r.Context(), from)
	if err != nil {
		return err
	}
	out := wire.Issuance{ChainDID: key.AID(), Entries: make([]wire.Issue, len(links)), Note: noteIssuance}
	if out.HeadSeq, out.HeadID, err = p.Ledger.Head(r.Context()); err != nil {
		return err
	}
	for i, k := range links {
		if out.Entries[i], err = toIssue(k); err != nil {
			return err
		}
	}
	return writeJSON(w, http.StatusOK, out)
}

// fromOf reads a number of a link. One that no chain will reach is one behind the
// end, however large it is (K.8).
func fromOf(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err == nil {
		return n, nil
	}
	if numErr := err.(*strconv.NumError); numErr.Err == strconv.ErrRange {
		return math.MaxUint64, nil
	}
	return 0, errs.New(errs.Invalid, "from_invalid", "from is the number of a record, the first being 1").In("from")
}

func toIssue(k ledger.Link) (wire.Issue, error) {
	r, err := evidence.ParseRecord(k.Record)
	return wire.Issue{Seq: k.Seq, ID: k.ID, PrevID: r.Prev, Kind: k.Kind, AID: k.AID, Amount: k.Amount,
		Reason: k.Reason, At: k.At, Record: k.Record}, err
}

// head serves GET /x402/issuance/head.
func (p *Payments) head(w http.ResponseWriter, r *http.Request) error {
	key := p.api.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	seq, id, err := p.Ledger.Head(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.ChainHead{ChainDID: key.AID(), Seq: seq, HeadID: id})
}

// witness serves POST /x402/witness. The attestation is signed, the request is not.
func (p *Payments) witness(w http.ResponseWriter, r *http.Request) error {
	body, release, err := p.api.readBody(w, r, maxOpenBody)
	if err != nil {
		return err
	}
	defer release()
	var in wire.Witness
	if err := decode(body, &in); err != nil {
		return err
	}
	if err := p.Ledger.Witness(r.Context(), in.Attestation); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Witnessed{Status: "stored"})
}

// clear serves POST /federation/clear. The statement is signed, the request is not.
func (p *Payments) clear(w http.ResponseWriter, r *http.Request) error {
	body, release, err := p.api.readBody(w, r, maxOpenBody)
	if err != nil {
		return err
	}
	defer release()
	var in wire.Clear
	if err := decode(body, &in); err != nil {
		return err
	}
	owed, err := p.Ledger.TakeDischarge(r.Context(), in.PeerAID, in.Receipt)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Cleared{Peer: in.PeerAID, Owed: owed})
}

// witnesses serves GET /x402/witnesses.
func (p *Payments) witnesses(w http.ResponseWriter, r *http.Request) error {
	key := p.api.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	release, err := p.api.Budget.Take(ledger.ChainPage * ledger.LinkBytes)
	if err != nil {
		return err
	}
	defer release()
	seen, err := p.Ledger.Witnessed(r.Context())
	if err != nil {
		return err
	}
	out := wire.Witnesses{ChainDID: key.AID(), Attestations: make([]wire.Attestation, len(seen.Page)), Health: health(seen, p.api.Now()),
		WitnessEndpoints: map[string]string{}, Verify: howToWitness, Note: noteWitnesses}
	for i, a := range seen.Page {
		out.Attestations[i] = wire.Attestation{WitnessAID: a.Witness, ChainDID: key.AID(), Seq: a.Seq, HeadID: a.HeadID,
			ObservedAt: uint64(a.ObservedAt.UnixMilli()), Attestation: a.Signed}
	}
	for _, aid := range seen.AIDs {
		if at := p.Ledger.Peers.Endpoint(aid); at != "" {
			out.WitnessEndpoints[aid] = at
		}
	}
	return writeJSON(w, http.StatusOK, out)
}

func health(w ledger.Witnessed, now time.Time) wire.WitnessHealth {
	h := wire.WitnessHealth{Witnesses: len(w.AIDs), Attestations: w.Count, LatestSeq: w.LatestSeq,
		UnwitnessedRecords: w.Unwitnessed(), WitnessAIDs: w.AIDs}
	if !w.LatestAt.IsZero() {
		at := w.LatestAt.UTC()
		h.LatestAt, h.StaleSeconds = &at, max(int64(now.Sub(at).Seconds()), 0)
	}
	return h
}
