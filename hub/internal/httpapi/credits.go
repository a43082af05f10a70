package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// creditRoutes are what agents see and take of what is theirs. Only the owner, by
// its signature, sees an account (wire 2, I.2).
func (p *Payments) creditRoutes(a *API, r chi.Router) {
	r.Get("/agents/{aid}/balance", a.signed(signedRoute{action: wire.ActionBalance}, p.balance))
	r.Get("/agents/{aid}/ledger", a.signed(signedRoute{action: wire.ActionLedger}, p.entries))
	r.Get("/agents/{aid}/redemptions", a.signed(signedRoute{action: wire.ActionRedemptions}, p.redemptions))
	r.Post("/x402/redeem", a.open(p.redeem))
}

func (p *Payments) balance(w http.ResponseWriter, r *http.Request, c *Caller) error {
	a, err := p.Ledger.Own(r.Context(), c.Proof)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Balance{AID: c.AID, Credits: a.Balance})
}

// lenientLimit reads ?limit= as wire 2, I.2, has it for accounts: what is no size
// of a page is the usual one.
func lenientLimit(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || n < 1 || n > ledger.MaxPage {
		return ledger.DefaultPage
	}
	return n
}

// entryRoom is what an entry of a page takes up: two texts, and two numbers.
const entryRoom = 512

// noteTruncated goes with a page that is not everything.
const noteTruncated = "this is the newest part: total and sum are over everything there is"

func (p *Payments) entries(w http.ResponseWriter, r *http.Request, c *Caller) error {
	limit := lenientLimit(r)
	release, err := p.api.Budget.Take(int64(limit) * entryRoom)
	if err != nil {
		return err
	}
	defer release()
	a, page, err := p.Ledger.OwnEntries(r.Context(), c.Proof, limit)
	if err != nil {
		return err
	}
	out := wire.LedgerPage{AID: c.AID, Entries: make([]wire.LedgerEntry, len(page)), Total: a.Entries, Sum: a.Balance, Returned: len(page)}
	for i, e := range page {
		out.Entries[i] = wire.LedgerEntry{Delta: e.Delta, Reason: e.Reason, At: e.At.UTC(), Transaction: e.AuthID}
	}
	if out.Truncated = int64(len(page)) < a.Entries; out.Truncated {
		out.Note = noteTruncated
	}
	return writeJSON(w, http.StatusOK, out)
}

func (p *Payments) redemptions(w http.ResponseWriter, r *http.Request, c *Caller) error {
	limit := lenientLimit(r)
	release, err := p.api.Budget.Take(int64(limit) * ledger.LinkBytes)
	if err != nil {
		return err
	}
	defer release()
	page, sum, err := p.Ledger.OwnRedemptions(r.Context(), c.Proof, limit)
	if err != nil {
		return err
	}
	out := wire.Redemptions{Redemptions: make([]wire.Redemption, len(page)), Total: sum.Count, Sum: sum.Amount, Returned: len(page)}
	for i, v := range page {
		out.Redemptions[i] = toRedemption(v)
	}
	if out.Truncated = int64(len(page)) < sum.Count; out.Truncated {
		out.Note = noteTruncated
	}
	return writeJSON(w, http.StatusOK, out)
}

func toRedemption(v ledger.Redemption) wire.Redemption {
	out := wire.Redemption{AuthID: v.AuthID, AID: v.AID, Amount: v.Amount, Reference: v.Reference, Receipt: v.Receipt}
	if !v.At.IsZero() {
		at := v.At.UTC()
		out.At = &at
	}
	return out
}

// redeem serves POST /x402/redeem. It is not signed, like a settlement: what it
// takes out of circulation is what its owner signed to the hub.
func (p *Payments) redeem(w http.ResponseWriter, r *http.Request) error {
	body, release, err := p.api.readBody(w, r, maxOpenBody)
	if err != nil {
		return err
	}
	defer release()
	var in wire.Redeem
	if err := decode(body, &in); err != nil {
		return err
	}
	if in.PaymentPayload == nil || in.X402Version != payment.X402Version {
		return errs.New(errs.Invalid, "malformed_payment", "paymentPayload is missing, or of another version than 2").In("paymentPayload")
	}
	v, err := p.Ledger.Redeem(r.Context(), *in.PaymentPayload, in.Reference, p.api.clientBucket(r))
	if no := (*ledger.Refusal)(nil); errors.As(err, &no) {
		return errs.New(errs.Invalid, no.Reason, "%s", no.Detail).With("redemption", toRedemption(v))
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, toRedemption(v))
}
