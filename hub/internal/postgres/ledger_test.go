package postgres

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// bank is a hub with a ledger on the same database.
type bank struct {
	*hub
	*ledger.Ledger
	key *identity.Controller
}

func (b *bank) Current() *identity.Controller { return b.key }

func newBank(t *testing.T) *bank {
	h := newHub(t)
	b := &bank{hub: h, key: testkit.Agent(t, 1)}
	b.Ledger = b.another()
	return b
}

// another is the ledger of another process.
func (b *bank) another() *ledger.Ledger {
	return ledger.New(ledger.Deps{Store: NewLedger(b.pool, newReplay(b.pool, b.clock)), Key: b, Peers: ledgertest.Alone{}, Grants: 100,
		Askers: admission.NewLimiter(1e6, 1e6, "settle_abroad_rate", b.clock.now), Asked: admission.NewLimiter(1e6, 1e6, "settle_peer_rate", b.clock.now),
		Replay: identity.NewCache(1 << 20).Replay, Now: b.clock.now, Log: quiet(), Metrics: prometheus.NewRegistry()})
}

// member is registered and has its grant.
func (b *bank) member() *directorytest.Node {
	b.t.Helper()
	n := b.node()
	b.register(n, n.Register("n"))
	if err := b.BookGrants(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *bank) pay(from, to *directorytest.Node, amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(from.Key, to.AID(), b.key.AID(), amount, b.clock.now())
}

func (b *bank) redeem(from *directorytest.Node, amount uint64, reference string) (ledger.Redemption, error) {
	p := ledgertest.Pay(from.Key, b.key.AID(), b.key.AID(), amount, b.clock.now()).For("redeem:" + reference)
	return b.Redeem(context.Background(), p.Payload(b.t), reference)
}

func (b *bank) mustSettle(p *ledgertest.Payment) payment.SettlementResponse {
	b.t.Helper()
	s, err := b.Settle(context.Background(), p.Request(b.t), "")
	if err != nil || !s.Success {
		b.t.Fatalf("%+v, %v", s, err)
	}
	return s
}

func (b *bank) balance(n *directorytest.Node) uint64 {
	b.t.Helper()
	a, _, err := b.Show(context.Background(), n.AID(), 1)
	if err != nil {
		b.t.Fatal(err)
	}
	return a.Balance
}

// balanced audits the books.
func (b *bank) balanced() ledger.Report {
	b.t.Helper()
	r, err := b.Audit(context.Background())
	if err != nil || len(r.Wrong) > 0 {
		b.t.Fatalf("the books: %v, %v", r.Wrong, err)
	}
	return r
}

func (b *bank) run(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(context.Background(), sql, args...); err != nil {
		b.t.Fatal(err)
	}
}

// Number 54, case D24: 200 settles of one authorization at two processes move it
// once, and all are answered alike.
func TestTwoHundredSettlesOfOneAuthorization(t *testing.T) {
	b := newBank(t)
	alice, bob, other := b.member(), b.member(), b.another()
	p := b.pay(alice, bob, 10)
	var mu sync.Mutex
	var wg sync.WaitGroup
	receipts, fresh := map[string]int{}, 0
	for i := range 200 {
		wg.Go(func() {
			l := b.Ledger
			if i%2 == 1 {
				l = other
			}
			s, err := l.Settle(context.Background(), p.Request(t), "")
			if err != nil || !s.Success {
				t.Errorf("%+v, %v", s, err)
			}
			mu.Lock()
			defer mu.Unlock()
			receipts[string(s.Extensions[payment.ExtReceipt])]++
			if s.Extensions[payment.ExtReplayed] == nil {
				fresh++
			}
		})
	}
	wg.Wait()
	if len(receipts) != 1 || fresh != 1 || b.balance(alice) != 90 || b.balance(bob) != 110 {
		t.Errorf("%d receipts, %d fresh, balances %d and %d", len(receipts), fresh, b.balance(alice), b.balance(bob))
	}
	b.balanced()
}

// Number 54: of many authorizations for one thing a single one moves.
func TestOnePaymentForOneThing(t *testing.T) {
	b := newBank(t)
	alice, bob := b.member(), b.member()
	results := make([]payment.SettlementResponse, 20)
	var wg sync.WaitGroup
	for i := range results {
		p := b.pay(alice, bob, 10).For("ix")
		wg.Go(func() {
			var err error
			if results[i], err = b.Settle(context.Background(), p.Request(t), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	settled := ""
	for _, s := range results {
		if s.Success {
			settled += s.Transaction
		}
	}
	for _, s := range results {
		if !s.Success && (s.ErrorReason != payment.DuplicateBinding || string(s.Extensions[payment.ExtOriginal]) != `"`+settled+`"`) {
			t.Errorf("%+v, want that %s was first", s, settled)
		}
	}
	if b.balance(alice) != 90 {
		t.Errorf("balance %d, want 90", b.balance(alice))
	}
	b.balanced()
}

// Everybody pays everybody at once: nobody waits in a circle, nothing is spent
// twice, and the sum stays what it was.
func TestPaymentsCrissCross(t *testing.T) {
	b := newBank(t)
	members := make([]*directorytest.Node, 6)
	for i := range members {
		members[i] = b.member()
	}
	other := b.another()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 1))
			l := b.Ledger
			if worker%2 == 1 {
				l = other
			}
			for range 25 {
				from, to := members[r.IntN(6)], members[r.IntN(6)]
				s, err := l.Settle(context.Background(), b.pay(from, to, 1+r.Uint64N(60)).Request(t), "")
				if err != nil || !s.Success && s.ErrorReason != payment.InsufficientFunds {
					t.Errorf("%+v, %v", s, err)
				}
			}
		})
	}
	wg.Wait()
	if r := b.balanced(); r.Balances != 600 {
		t.Errorf("%d credits, want 600", r.Balances)
	}
}

func TestPayingOneself(t *testing.T) {
	b := newBank(t)
	alice := b.member()
	b.mustSettle(b.pay(alice, alice, 100))
	if s, err := b.Settle(context.Background(), b.pay(alice, alice, 101).Request(t), ""); err != nil || s.ErrorReason != payment.InsufficientFunds {
		t.Errorf("%+v, %v", s, err)
	}
	a, page, err := b.Show(t.Context(), alice.AID(), 10)
	if err != nil || a.Balance != 100 || a.Entries != 3 || page[1].Delta != -100 || page[2].Delta != 100 {
		t.Errorf("%+v %+v, %v", a, page, err)
	}
	b.balanced()
}

// A payer dates its rotations as it likes: the books hold all the same, and its payee
// gets the receipt, also once the payer has left.
func TestWhatAPayerDoesUndoesNoPayment(t *testing.T) {
	for _, at := range []time.Time{time.UnixMilli(1), {}} {
		b := newBank(t)
		alice, bob := b.member(), b.member()
		p := b.pay(alice, bob, 10)
		first := b.mustSettle(p)
		b.clock.advance(time.Second)
		alice.Rotate(at)
		b.register(alice, alice.Register("n"))
		if err := b.tryLeave(alice); err != nil {
			t.Fatal(err)
		}
		if s := b.mustSettle(p); !bytes.Equal(s.Extensions[payment.ExtReceipt], first.Extensions[payment.ExtReceipt]) {
			t.Errorf("rotated as of %s: %+v, want the receipt", at, s)
		}
		b.balanced()
	}
}

// An account is opened with its first credit, for an AID that never registered as
// well.
func TestPayingSomebodyWithoutAnAccount(t *testing.T) {
	b := newBank(t)
	alice, stranger := b.member(), b.node()
	b.mustSettle(b.pay(alice, stranger, 30))
	if b.balance(stranger) != 30 {
		t.Errorf("balance %d", b.balance(stranger))
	}
	b.register(stranger, stranger.Register("s"))
	if err := b.BookGrants(t.Context()); err != nil || b.balance(stranger) != 130 {
		t.Errorf("with its grant: %d, %v", b.balance(stranger), err)
	}
	b.balanced()
}

// Number 39: the grant comes once, whatever an AID does.
func TestTheRegistrationGrantComesOnce(t *testing.T) {
	b := newBank(t)
	alice := b.member()
	if err := b.tryLeave(alice); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(time.Minute)
	b.register(alice, alice.Register("again"))
	b.run(`INSERT INTO grant_due (aid, at) VALUES ($1, now())`, alice.AID()) // as if something had gone wrong
	if err := b.BookGrants(t.Context()); err != nil || b.balance(alice) != 100 {
		t.Errorf("balance %d, %v", b.balance(alice), err)
	}
	b.balanced()
}

func (b *bank) tryLeave(n *directorytest.Node) error {
	_, err := b.Deregister(context.Background(), b.known(n))
	return err
}

// Many processes book at once; every grant is one link of one chain.
func TestGrantsAreBookedOnceByManyProcesses(t *testing.T) {
	b := newBank(t)
	for range 30 {
		n := b.node()
		b.register(n, n.Register("n"))
	}
	var wg sync.WaitGroup
	for range 4 {
		l := b.another()
		wg.Go(func() {
			if err := l.BookGrants(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r := b.balanced(); r.Balances != 3000 || r.Links != 30 {
		t.Errorf("%d credits in %d links, want 3000 in 30", r.Balances, r.Links)
	}
}

func TestWithoutAGrantNothingIsIssued(t *testing.T) {
	b := newBank(t)
	b.Grants = 0
	alice := b.member()
	b.Grants = 100
	if err := b.BookGrants(t.Context()); err != nil || b.balance(alice) != 0 {
		t.Errorf("balance %d, %v", b.balance(alice), err)
	}
	if r := b.balanced(); r.Links != 0 {
		t.Errorf("%d links", r.Links)
	}
}

// Number 55 and K.8: what is redeemed leaves circulation, once, as the chain says.
func TestRedeem(t *testing.T) {
	b := newBank(t)
	alice := b.member()
	p := ledgertest.Pay(alice.Key, b.key.AID(), b.key.AID(), 40, b.clock.now()).For("redeem:inv-1")
	var first ledger.Redemption
	for i := range 3 {
		r, err := b.Redeem(t.Context(), p.Payload(t), "inv-1")
		if err != nil || r.Amount != 40 || r.AID != alice.AID() || r.AuthID != p.ID(t) {
			t.Fatalf("%+v, %v", r, err)
		}
		if i == 0 {
			first = r
		}
		if !bytes.Equal(r.Receipt, first.Receipt) || !r.At.Equal(first.At) {
			t.Errorf("again: %+v, want %+v", r, first)
		}
	}
	for _, c := range []struct {
		why, want string
		amount    uint64
		reference string
		p         *ledgertest.Payment
	}{
		{why: "more than there is", want: payment.InsufficientFunds, amount: 61, reference: "x"},
		{why: "the reference again", want: payment.DuplicateBinding, amount: 1, reference: "inv-1"},
		{why: "a line break", want: payment.MalformedPayment, amount: 1, reference: "a\nb"},
		{why: "to somebody", want: payment.PayeeMismatch, reference: "y", p: b.pay(alice, alice, 1)},
		{why: "signed for another reference", want: payment.MalformedPayment, reference: "z",
			p: ledgertest.Pay(alice.Key, b.key.AID(), b.key.AID(), 1, b.clock.now()).For("redeem:zz")},
	} {
		if c.p == nil {
			c.p = ledgertest.Pay(alice.Key, b.key.AID(), b.key.AID(), c.amount, b.clock.now()).For("redeem:" + c.reference)
		}
		_, err := b.Redeem(t.Context(), c.p.Payload(t), c.reference)
		if no := (*ledger.Refusal)(nil); !errors.As(err, &no) || no.Reason != c.want {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
	if r := b.balanced(); r.Balances != 60 || r.Issued != 100 || r.Retired != 40 || b.balance(alice) != 60 {
		t.Errorf("%+v", r)
	}
	page, sum, err := NewLedger(b.pool, nil).Redemptions(t.Context(), alice.AID(), 10)
	if err != nil || len(page) != 1 || sum != (ledger.Sum{Count: 1, Amount: 40}) || page[0].Reference != "inv-1" {
		t.Errorf("%+v %+v, %v", page, sum, err)
	}
}

// Number 52: what is issued in all can be counted, also by many at once.
func TestTheSupplyCannotOverflow(t *testing.T) {
	b := newBank(t)
	alice, bob := b.member(), b.member()
	by := audit.By{Who: "op", How: "test"}
	if _, err := b.Grant(t.Context(), b.node().AID(), 1, by); errs.KindOf(err) != errs.NotFound {
		t.Errorf("to a stranger: %v", err)
	}
	const half = uint64(math.MaxInt64 / 2)
	var wg sync.WaitGroup
	var mu sync.Mutex
	booked := 0
	for i := range 6 {
		to := alice
		if i%2 == 1 {
			to = bob
		}
		wg.Go(func() {
			switch _, err := b.Grant(context.Background(), to.AID(), half-200, by); {
			case err == nil:
				mu.Lock()
				booked++
				mu.Unlock()
			case !errs.Is(err, "supply_exhausted"):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if booked != 2 {
		t.Errorf("%d grants of half of everything were booked, want 2", booked)
	}
	if _, err := b.Grant(t.Context(), alice.AID(), 201, by); err != nil {
		t.Errorf("the last there is: %v", err)
	}
	if _, err := b.Grant(t.Context(), alice.AID(), 1, by); !errs.Is(err, "supply_exhausted") {
		t.Errorf("one more: %v", err)
	}
	b.mustSettle(b.pay(alice, bob, b.balance(alice)))
	if b.balance(bob) != math.MaxInt64 {
		t.Errorf("bob has %d, want everything there is", b.balance(bob))
	}
	b.balanced()
}

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
	if _, _, err := b.Buy(t.Context(), offer, b.pay(alice, bob, 3).Payload(t)); err != nil {
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

// findsEvery makes each change in turn, has the books examined, and takes it back.
func (b *bank) findsEvery(changes ...string) {
	t := b.t
	t.Helper()
	for _, sql := range changes {
		err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return err
			}
			r, err := ledger.Examine(t.Context(), b.key.History(), identity.Replay, books{tx})
			if err == nil && len(r.Wrong) == 0 {
				t.Errorf("%s: nothing is found", sql)
			}
			return errors.Join(err, errRolledBack)
		})
		if !errors.Is(err, errRolledBack) {
			t.Errorf("%s: %v", sql, err)
		}
	}
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
		{"a verification", second(b.Verify(t.Context(), b.pay(alice, bob, 10).Request(t)))},
	} {
		if testkit.Reason(c.err) != "ledger_read_only" {
			t.Errorf("%s: %v", c.why, c.err)
		}
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

// Pages of offers by numbers are those of one list, wherever they begin.
func TestOffersByNumbers(t *testing.T) {
	b := newBank(t)
	seed(t, b.pool, 60)
	for _, sql := range []string{
		`UPDATE agent SET shown = aid <> '` + agentOf(7) + `'`,
		`INSERT INTO agent_adp_card (aid, card) SELECT aid, '{}' FROM agent`,
		`INSERT INTO gateway_offer (aid, capability, price, at) SELECT aid, 'cap.' || i, i, '2026-01-01Z' FROM agent, generate_series(1, 5) AS i`,
	} {
		if _, err := b.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	all := map[ledger.Mark]bool{}
	for offset := 0; offset < 320; offset += 7 {
		page, total, err := b.Offers(t.Context(), "", 7, offset)
		if err != nil || total != 295 || len(page) != max(0, min(7, 295-offset)) {
			t.Fatalf("from %d on: %d offers of %d, %v, want all of 295", offset, len(page), total, err)
		}
		for _, o := range page {
			all[o.Mark] = true
		}
	}
	if of, total, err := b.Offers(t.Context(), agentOf(9), 2, 1); err != nil || total != 5 || len(of) != 2 || of[0].Capability != "cap.2" {
		t.Errorf("of one seller: %+v of %d, %v", of, total, err)
	}
	if len(all) != 295 {
		t.Errorf("the pages show %d offers, want 295", len(all))
	}
}
