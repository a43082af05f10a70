package wallet

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// Bounds on what is kept of a provider's words.
const (
	maxQuote    = 64 << 10
	maxReceipts = 64 << 10
)

// Hear takes what a provider says of the payment for a task: receipts first,
// which are proof; then that a payment failed, which is its word; then a quote,
// which may be paid here and now.
func (w *Wallet) Hear(tx *journal.Tx, k *journal.Task, meta task.Metadata) error {
	if err := tx.PutTask(k); err != nil {
		return err
	}
	shown := w.responses(meta)
	if err := w.proven(tx, k.ID, shown); err != nil {
		return err
	}
	status := payment.Status(meta.Text(task.KeyPaymentStatus))
	if status == payment.StatusFailed {
		if err := w.failed(tx, k.ID, shown, meta); err != nil {
			return err
		}
	}
	if quote := meta[task.KeyPaymentRequired]; len(quote) > 0 && !k.State.Terminal() {
		if err := w.quoted(tx, k, quote, meta, status); err != nil {
			return err
		}
	}
	paying, err := w.Paying(tx, k.ID)
	if err == nil && paying && !k.State.Terminal() {
		k.Effect = "" // it waits for the provider, and for nobody here
		if status == payment.StatusVerified && k.Reason == string(task.SettlementPending) {
			k.Reason, k.Note = "", ""
		}
	}
	return err
}

// Prepare asks the hub for its history anew where a receipt for a payment of this node is
// signed with a key that the node does not know yet: the hub may have moved to it since.
// What cannot be learned now is heard as it is, and resolved later.
func (w *Wallet) Prepare(ctx context.Context, id string, meta task.Metadata) {
	shown := w.responses(meta)
	if len(shown) == 0 || w.Ledger == nil {
		return
	}
	var spends []journal.Spend
	err := w.Journal.Read(ctx, func(tx *journal.Tx) (err error) { spends, err = tx.Spends(id); return err })
	ahead := func(a payment.SettlementResponse) bool {
		return slices.ContainsFunc(spends, func(s journal.Spend) bool { return w.ahead(s, a) })
	}
	if err != nil || !slices.ContainsFunc(shown, ahead) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	hub, _ := w.Ledger.Own()
	if _, err := w.Ledger.KEL(ctx, hub, true); err != nil {
		w.Log.Warn("wallet: the hub cannot be asked for the key that it signs receipts with", "error", err)
	}
}

// ahead reports whether a receipt is for a payment and by a key of the hub's that is
// later than all that are known.
func (w *Wallet) ahead(s journal.Spend, answer payment.SettlementResponse) bool {
	auth, err := payment.ParseAuthorization(s.Signed)
	if err != nil || s.State == journal.SpendPaid {
		return false
	}
	own, kel := w.Ledger.Own()
	got, shown, err := answer.Receipt()
	if err != nil || !shown || !got.Settles(auth) || got.Env.Signer != own {
		return false
	}
	h, err := identity.Replay(kel)
	return err == nil && got.Env.Seq >= uint64(h.Len())
}

// responses are what the provider shows as receipts; a list that cannot be read
// shows nothing.
func (w *Wallet) responses(meta task.Metadata) []payment.SettlementResponse {
	raw := meta[task.KeyPaymentReceipts]
	if len(raw) > maxReceipts {
		return nil
	}
	shown, err := payment.ParseResponses(raw)
	if err != nil {
		w.Log.Debug("wallet: receipts cannot be read", "error", err)
	}
	return shown
}

// proven takes the receipts that hold. The others are kept apart: they are shown,
// and count for nothing.
func (w *Wallet) proven(tx *journal.Tx, id string, shown []payment.SettlementResponse) error {
	spends, err := tx.Spends(id)
	if err != nil || len(spends) == 0 {
		return err
	}
	var unverified []payment.SettlementResponse
	for _, answer := range shown {
		if !answer.Success {
			continue
		}
		found := false
		for i, s := range spends {
			if receipt, ok := w.proves(s, answer); ok {
				found = true
				if err := paid(tx, &spends[i], receipt); err != nil {
					return err
				}
			}
		}
		if !found {
			unverified = append(unverified, answer)
		}
	}
	return keepApart(tx, spends[0], unverified)
}

func keepApart(tx *journal.Tx, s journal.Spend, unverified []payment.SettlementResponse) (err error) {
	if len(unverified) == 0 {
		return nil
	}
	if s.Unverified, err = codec.MarshalJSON(unverified); err != nil {
		return err
	}
	return tx.PutSpend(s)
}

func paid(tx *journal.Tx, s *journal.Spend, receipt []byte) error {
	if s.State == journal.SpendPaid {
		return nil
	}
	s.State, s.Reason, s.Receipt, s.Ended = journal.SpendPaid, "", receipt, tx.Now()
	return tx.PutSpend(*s)
}

// proves checks a receipt against the authorization of this node, and under the
// key history of the hub that the network names.
func (w *Wallet) proves(s journal.Spend, answer payment.SettlementResponse) (receipt []byte, ok bool) {
	auth, err := payment.ParseAuthorization(s.Signed)
	if err != nil || answer.Transaction != s.AuthID || w.Ledger == nil {
		return nil, false
	}
	got, shown, err := answer.Receipt()
	if err != nil || !shown || !got.Settles(auth) {
		return nil, false
	}
	own, kel := w.Ledger.Own()
	if hub, _ := payment.HubOf(got.Network); hub != own {
		return nil, false
	}
	h, err := identity.Replay(kel)
	if err != nil || h.AID() != own || got.Verify(h) != nil {
		return nil, false
	}
	raw, err := answer.ReceiptBytes()
	return raw, err == nil
}

// failed notes that the provider says a payment came to nothing, where it speaks
// of the one that is open.
func (w *Wallet) failed(tx *journal.Tx, id string, shown []payment.SettlementResponse, meta task.Metadata) error {
	spends, err := tx.Spends(id)
	if err != nil {
		return err
	}
	for _, s := range spends {
		if s.State != journal.SpendOpen {
			continue
		}
		reason, ok := failure(s.AuthID, shown, string(meta.Reason()))
		if !ok || reason == payment.SettlementPending {
			continue
		}
		s.State, s.Reason, s.Ended = journal.SpendFailed, reason, tx.Now()
		if err := tx.PutSpend(s); err != nil {
			return err
		}
	}
	return nil
}

// failure finds the answer about one transaction. A provider that names none
// speaks of the one there is.
func failure(transaction string, shown []payment.SettlementResponse, said string) (reason string, ok bool) {
	named := false
	for _, answer := range shown {
		switch {
		case answer.Success:
		case answer.Transaction == transaction:
			reason, ok = answer.ErrorReason, true
		case answer.Transaction != "":
			named = true
		}
	}
	if ok && reason == "" || !ok && !named {
		return said, true
	}
	return reason, ok
}

// quoted keeps a quote and, where that was agreed to, pays it.
func (w *Wallet) quoted(tx *journal.Tx, k *journal.Task, quote json.RawMessage, meta task.Metadata, status payment.Status) error {
	if len(quote) > maxQuote {
		return nil
	}
	q := journal.Quote{Task: k.ID, Required: quote, Exp: tx.Now().Add(till.QuoteLife)}
	if ms, ok := meta.Number(task.KeyQuoteExpires); ok && ms < uint64(q.Exp.UnixMilli()) {
		q.Exp = time.UnixMilli(int64(ms))
	}
	if err := tx.PutQuote(q); err != nil || status != payment.StatusRequired {
		return err
	}
	order, wanted, err := w.agreed(tx, k)
	if err != nil || !wanted {
		return err
	}
	return w.byItself(k, w.Pay(tx, k, order))
}

// agreed is what was said about paying the task before its quote came.
func (w *Wallet) agreed(tx *journal.Tx, k *journal.Task) (o Order, wanted bool, err error) {
	c, found, err := tx.TakeConsent(k.ID)
	switch {
	case err != nil:
		return o, false, err
	case found:
		return Order{Tier: Tier(c.Tier), Most: c.Most}, true, nil
	}
	// By itself the node pays once: who says each time that it failed would have it
	// sign until nothing is left of the day's limit for anybody else.
	spends, err := tx.Spends(k.ID)
	return Order{Tier: Auto}, w.Limits().AutoMax > 0 && len(spends) == 0, err
}

// byItself lets the task wait for a person where it was not paid, and says why.
func (w *Wallet) byItself(k *journal.Task, err error) error {
	e := errs.As(err)
	if e == nil || e.Kind == errs.Internal {
		return err
	}
	k.Note = e.Message
	if task.Reason(e.Reason).Known() {
		k.Reason = e.Reason
	}
	return nil
}
