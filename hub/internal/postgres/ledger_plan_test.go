package postgres

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/pgtest"
)

// grownSQL is a ledger that was used: every agent has an account, paid another one,
// was granted and redeemed something, and sells four capabilities.
var grownSQL = []string{
	`INSERT INTO account (aid, balance, entries, granted_at) SELECT aid, 1000, 3, registered_at FROM agent`,
	`CREATE TEMPORARY TABLE paid AS
		SELECT 'bafyreia' || translate(lpad(row_number() OVER (ORDER BY aid)::text, 51, '0'), '0189', 'klmn') AS auth_id, aid AS payer,
		       coalesce(lead(aid) OVER w, first_value(aid) OVER w) AS pay_to, registered_at AS at
		FROM agent WINDOW w AS (ORDER BY aid)`,
	`INSERT INTO settlement (auth_id, payer, pay_to, amount, interaction, signed, receipt, settled_at)
		SELECT auth_id, payer, pay_to, 1, md5(payer) || md5(pay_to), decode(repeat('42', 420), 'hex'), decode(repeat('42', 470), 'hex'), at FROM paid`,
	`INSERT INTO account_entry (aid, n, delta, reason, auth_id, at)
		SELECT payer, 1, 100, 'registration grant', NULL, at FROM paid UNION ALL
		SELECT payer, 2, -1, 'payment sent', auth_id, at FROM paid UNION ALL SELECT pay_to, 3, 1, 'payment received', auth_id, at FROM paid`,
	`INSERT INTO redemption (auth_id, aid, n, amount, reference, at) SELECT auth_id, payer, 1, 1, 'r', at FROM paid`,
	`INSERT INTO peer_payment (auth_id, hub, payer, pay_to, amount, signed, receipt, answer, at)
		SELECT auth_id, 'p', payer, pay_to, 1, '\x00', '\x00', '\x00', at FROM paid`,
	`INSERT INTO issuance (seq, id, kind, aid, amount, reason, at, record)
		SELECT row_number() OVER (), auth_id, 'anet.credit.issued', payer, 100, 'registration grant', at, decode(repeat('42', 500), 'hex') FROM paid`,
	`INSERT INTO attestation (witness, seq, head_id, observed_at, signed) SELECT 'w', seq, id, at, '\x00' FROM issuance`,
	`INSERT INTO grant_due (aid, at) SELECT payer, at FROM paid ON CONFLICT DO NOTHING`,
	`INSERT INTO agent_adp_card (aid, card) SELECT aid, '{}' FROM agent`,
	`INSERT INTO gateway_offer (aid, capability, price, at) SELECT aid, 'cap.' || i, 1, registered_at FROM agent, generate_series(1, 4) AS i`,
	`INSERT INTO block (aid, why, created_at) SELECT 'b' || i, '', '2026-01-01Z' FROM generate_series(1, 20000) AS i`,
	`VACUUM ANALYZE`,
}

// agentOf is the i-th seeded agent.
func agentOf(i int) string {
	return "b" + strings.NewReplacer("0", "k", "1", "l", "8", "m", "9", "n").Replace(fmt.Sprintf("%058d", i))
}

func paidBy(i int) string {
	return "bafyreia" + strings.NewReplacer("0", "k", "1", "l", "8", "m", "9", "n").Replace(fmt.Sprintf("%051d", i))
}

// At a hundred thousand accounts, payments and links no question of the ledger scans
// a table, and a payment moves without one.
func TestNoPaymentScansATable(t *testing.T) {
	pool := pgtest.New(t)
	seed(t, pool, 100_000)
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, sql := range grownSQL {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	at, from, to := time.Unix(1<<30, 0), agentOf(7777), agentOf(55555)
	of := func(more ...any) []any {
		args := pgx.NamedArgs{"aid": from, "n": 100, "asked_at": at, "from": 50_000, "seq": 50_000, "cap": "cap.3", "skip": 99, "limit": 100, "since": time.Unix(0, 0),
			"auth_id": paidBy(500), "payer": from, "pay_to": to, "interaction": "ix", "at": at}
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return []any{args}
	}
	move := pgx.NamedArgs{"auth_id": "bafyreinew", "payer": from, "pay_to": to, "amount": 1, "interaction": "new", "signed": []byte{1}, "receipt": []byte{1},
		"at": at, "capability": nil, "voucher": nil, "due_to": nil, "reason": ledger.ReasonRedeemed}
	retired := maps.Clone(move)
	retired["auth_id"], retired["interaction"] = "bafyreiretired", "retired"
	for _, q := range []question{
		{"what a payment is judged by", standingOfPaymentSQL.sql, standingOfPaymentSQL.bind(of()[0].(pgx.NamedArgs)), "settlement_pk", 2},
		{"a binding that was used", standingOfPaymentSQL.sql, standingOfPaymentSQL.bind(of()[0].(pgx.NamedArgs)), "settlement_binding_uq", 2},
		{"the accounts of a payment", lockPartiesSQL.sql, lockPartiesSQL.bind(move), "account_pk", 2},
		{"a payment", settleSQL.sql, settleSQL.bind(move), "account_pk", 6},
		{"a redemption that is booked", retireSQL.sql, retireSQL.bind(retired), "account_pk", 6},
		{"a balance", accountSQL, of(), "account_pk", 1},
		{"a page of an account", entriesSQL, of(), "account_entry_pk", 100},
		{"a page of redemptions", redeemedSQL, of(), "redemption_aid_uq", 100},
		{"a payment of a peer's", peerPaymentSQL + ` WHERE auth_id = @auth_id`, of(), "peer_payment_pk", 1},
		{"a redemption", redemptionSQL + ` WHERE auth_id = @auth_id`, of(), "redemption_pk", 1},
		{"a seller", sellerSQL, of(), "agent_pk", 1},
		{"a page of the chain", linksSQL, of("n", 500), "issuance_pk", 500},
		{"a link of the chain", linkIDSQL, of(), "issuance_pk", 1},
		{"what others saw", attestationsSQL, of("n", 500), "attestation_latest", 500},
		{"grants that are due", takeGrantsSQL, of("n", 500), "grant_due_pk", 500},
		{"credits for many", creditSQL, of("aids", []string{from, to}, "deltas", []int64{1, 1}, "reasons", []string{"r", "r"}), "account_pk", 2},
		{"credits from a peer", creditPeerSQL, of("amount", 1), "account_pk", 1},
		{"a page of offers", offersSQL, of(), "gateway_offer_pk", 199},
		{"the offers of a seller", offersOfSQL, of(), "gateway_offer_pk", 4},
	} {
		q.ask(t, conn)
	}
}
