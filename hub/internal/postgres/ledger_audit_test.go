package postgres

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// Number 60: the chain is that of the supply, and everybody can verify it.
func TestTheChainIsPublic(t *testing.T) {
	b := newBank(t)
	alice := b.member()
	b.member()
	if _, err := b.redeem(alice, 30, "inv"); err != nil {
		t.Fatal(err)
	}
	links, err := b.Issuance(t.Context(), 0)
	if err != nil || len(links) != 3 {
		t.Fatalf("%d links, %v", len(links), err)
	}
	var records []evidence.Record
	for _, k := range links {
		r, err := evidence.ParseRecord(k.Record)
		if err != nil || r.ID != k.ID || r.Type != k.Kind {
			t.Fatalf("%+v, %v", k, err)
		}
		records = append(records, r)
	}
	end, err := evidence.VerifyChain(evidence.Head{}, records, func(string) (*identity.History, error) { return b.key.History(), nil })
	seq, id, failed := b.Head(t.Context())
	if err != nil || failed != nil || end.Seq != seq || end.ID != id || end.Chain != b.key.AID() {
		t.Errorf("ends at %+v, the head is %d %s; %v %v", end, seq, id, err, failed)
	}
	s, err := b.Supply(t.Context())
	if err != nil || !s.Agrees() || s.Chain() != 170 || s.Outstanding() != 170 || s.Redeemed != 30 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, from := range []uint64{4, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		if links, err := b.Issuance(t.Context(), from); err != nil || len(links) != 0 {
			t.Errorf("from %d: %d links, %v", from, len(links), err)
		}
	}
	if links, err := b.Issuance(t.Context(), 3); err != nil || len(links) != 1 {
		t.Errorf("from 3: %d links, %v", len(links), err)
	}
	b.run(`INSERT INTO issuance SELECT i, 'link ' || i, kind, aid, amount, reason, at, record FROM issuance, generate_series(10, 600) AS i WHERE seq = 1`)
	if links, err := b.Issuance(t.Context(), 10); err != nil || len(links) != 500 || links[499].Seq != 509 {
		t.Errorf("from 10: %d links, %v, want 500 of them", len(links), err)
	}
}

// A supply is shown for a moment, and says whether accounts hold what the chain says.
func TestTheSupplyIsKeptForAMoment(t *testing.T) {
	b := newBank(t)
	b.member()
	agrees := func(when string, want bool) {
		t.Helper()
		if s, err := b.Supply(t.Context()); err != nil || s.Agrees() != want {
			t.Errorf("%s: %+v agrees %v, %v, want %v", when, s, s.Agrees(), err, want)
		}
	}
	agrees("at first", true)
	b.run(`UPDATE account SET balance = balance + 1`)
	b.clock.advance(5*time.Second - time.Millisecond)
	agrees("within five seconds", true)
	b.clock.advance(time.Millisecond)
	agrees("later", false)
}

// An audit finds whatever is changed in the books behind the hub's back.
func TestAuditFindsEveryChange(t *testing.T) {
	b := newBank(t)
	alice, bob := b.member(), b.member()
	b.mustSettle(b.pay(alice, bob, 10).For("ix"))
	if _, err := b.redeem(bob, 5, "inv"); err != nil {
		t.Fatal(err)
	}
	offer := ledger.Offer{Seller: bob.AID(), Capability: "text.digest", Price: 3, Network: payment.Network(b.key.AID())}
	if _, _, err := b.Buy(t.Context(), offer, b.pay(alice, bob, 3).Payload(t), ""); err != nil {
		t.Fatal(err)
	}
	b.balanced()
	b.findsEvery(
		`UPDATE account SET balance = balance + 1 WHERE aid = '`+alice.AID()+`'`,
		`UPDATE account SET balance = balance + CASE WHEN aid = '`+alice.AID()+`' THEN 1 ELSE -1 END`,
		`UPDATE account SET entries = entries + 1 WHERE aid = '`+alice.AID()+`'`,
		`UPDATE account SET granted_at = NULL WHERE aid = '`+alice.AID()+`'`,
		`DELETE FROM account WHERE aid = '`+alice.AID()+`'`,
		`DELETE FROM account_entry WHERE aid = '`+alice.AID()+`' AND n = 2`,
		`UPDATE account_entry SET delta = delta - 1 WHERE aid = '`+alice.AID()+`' AND n = 2`,
		`UPDATE account_entry SET n = 7 WHERE aid = '`+alice.AID()+`' AND n = 2`,
		`UPDATE account_entry SET auth_id = NULL WHERE aid = '`+alice.AID()+`' AND n = 2`,
		`UPDATE account_entry SET aid = CASE aid WHEN '`+alice.AID()+`' THEN '`+bob.AID()+`' ELSE '`+alice.AID()+`' END, n = n + 100 WHERE n = 2`,
		`WITH e AS (UPDATE account_entry SET delta = delta + CASE aid WHEN '`+alice.AID()+`' THEN 1 ELSE -1 END WHERE auth_id IS NULL RETURNING aid)
			UPDATE account SET balance = balance + CASE aid WHEN '`+alice.AID()+`' THEN 1 ELSE -1 END`,
		`UPDATE settlement SET amount = 11 WHERE amount = 10`,
		`UPDATE settlement SET pay_to = payer WHERE amount = 10`,
		`UPDATE settlement SET interaction = 'iy' WHERE amount = 10`,
		`UPDATE settlement SET receipt = (SELECT receipt FROM settlement WHERE amount = 5) WHERE amount = 10`,
		`UPDATE settlement SET signed = (SELECT signed FROM settlement WHERE amount = 5) WHERE amount = 10`,
		`UPDATE settlement SET signed = set_byte(signed, length(signed) - 1, 255 - get_byte(signed, length(signed) - 1)) WHERE amount = 10`,
		`UPDATE settlement SET receipt = set_byte(receipt, length(receipt) - 1, 255 - get_byte(receipt, length(receipt) - 1)) WHERE amount = 10`,
		`DELETE FROM settlement WHERE amount = 10`,
		`DELETE FROM redemption`,
		`UPDATE redemption SET amount = 4`,
		`UPDATE redemption SET at = at + interval '1 second'`,
		`DELETE FROM issuance WHERE seq = 3`,
		`DELETE FROM issuance WHERE seq = 1`,
		`UPDATE issuance SET amount = 101 WHERE seq = 1`,
		`UPDATE issuance SET reason = 'gift' WHERE seq = 1`,
		`UPDATE issuance SET kind = 'anet.credit.issued' WHERE seq = 3`,
		`UPDATE issuance SET record = (SELECT record FROM issuance WHERE seq = 2) WHERE seq = 1`,
		`UPDATE issuance SET record = set_byte(record, 40, 255 - get_byte(record, 40)) WHERE seq = 2`,
		`UPDATE issuance SET record = set_byte(record, position('\x0c5840'::bytea IN record) + 9, 255 - get_byte(record, position('\x0c5840'::bytea IN record) + 9)) WHERE seq = 2`,
		`WITH i AS (UPDATE issuance SET at = at + interval '1 day' WHERE seq = 1 RETURNING aid)
			UPDATE account_entry SET at = at + interval '1 day' WHERE auth_id IS NULL AND aid IN (SELECT aid FROM i)`,
		`UPDATE ledger SET issued = issued + 1, retired = retired + 1`,
		`UPDATE ledger SET issued = issued + 1`,
		`UPDATE ledger SET retired = retired + 1`,
		`UPDATE ledger SET head_id = 'x'`,
		`UPDATE ledger SET head_seq = 9`,
		`UPDATE settlement SET capability = 'text.other' WHERE amount = 3`,
		`UPDATE settlement SET voucher = receipt WHERE amount = 3`,
		`UPDATE settlement SET voucher = set_byte(voucher, length(voucher) - 1, 255 - get_byte(voucher, length(voucher) - 1)) WHERE amount = 3`,
		`WITH s AS (UPDATE settlement SET settled_at = settled_at + interval '1 day' WHERE amount = 10 RETURNING auth_id)
			UPDATE account_entry SET at = at + interval '1 day' WHERE auth_id IN (SELECT auth_id FROM s)`,
	)
	b.balanced()
}

var errRolledBack = errors.New("rolled back on purpose")

// A restored ledger gives answers that are final to nobody, until it was audited.
func TestARestoredLedgerIsReadOnly(t *testing.T) {
	b := newBank(t)
	alice, bob := b.member(), b.member()
	settled := b.pay(alice, bob, 10)
	b.mustSettle(settled)
	b.run(AfterRestore(true, b.clock.now()))
	n := b.node()
	b.run(`DELETE FROM replay_epoch; INSERT INTO replay_epoch (accept_from) VALUES ('epoch')`)
	b.register(n, n.Register("n"))
	for _, c := range []struct {
		why string
		err error
	}{
		{"a payment", second(b.Settle(t.Context(), b.pay(alice, bob, 10).Request(t), ""))},
		{"one that could not be covered", second(b.Settle(t.Context(), b.pay(alice, bob, 1000).Request(t), ""))},
		{"a redemption", second(b.redeem(alice, 1, "r"))},
		{"a grant", second(b.Grant(t.Context(), alice.AID(), 1, audit.By{}))},
		{"registration grants", b.BookGrants(t.Context())},
		{"a verification", second(b.Verify(t.Context(), b.pay(alice, bob, 10).Request(t), ""))},
	} {
		if testkit.Reason(c.err) != "ledger_read_only" {
			t.Errorf("%s: %v", c.why, c.err)
		}
	}
	// Also where the books were restored in the midst of a payment.
	late := ledger.Settlement{AuthID: "late", Payer: alice.AID(), PayTo: bob.AID(), Amount: 1, Signed: []byte("s"), Receipt: []byte("r"), At: b.clock.now()}
	if _, fresh, err := NewLedger(b.pool, nil).Settle(t.Context(), late); fresh || testkit.Reason(err) != "ledger_read_only" {
		t.Errorf("a payment that was judged before: fresh %v, %v", fresh, err)
	}
	if s := b.mustSettle(settled); string(s.Extensions[payment.ExtReplayed]) != "true" {
		t.Errorf("what is on record: %+v", s)
	}
	if r := b.balanced(); r.ReadOnly.IsZero() {
		t.Error("the audit does not say that it is read only")
	}
	if err := b.Reopen(t.Context(), audit.By{Who: "op", How: "test"}); err != nil {
		t.Fatal(err)
	}
	b.mustSettle(b.pay(alice, bob, 10))
	if err := b.BookGrants(t.Context()); err != nil || b.balance(n) != 100 {
		t.Errorf("the grant that waited: %d, %v", b.balance(n), err)
	}
	b.balanced()
}
