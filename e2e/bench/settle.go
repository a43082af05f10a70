package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/payment"
)

// settle compares a settlement of one credit by the bare statement that moves it,
// by the hub's store, and by the hub over HTTP with its signatures. Every worker has
// a payer and a payee of its own, on the same tables.
func settle(t testing.TB, o options) []Row {
	h := stage.StartHub(t, stage.HubConfig{Args: freely})
	url, err := bench.DatabaseURL(h.Config.DataDir)
	stage.Must(t, err)
	till := newTill(t, h.Hub, url, o.Workers)
	got := compare(t, o, h,
		side{"settle, bare statement", till.bare(t, url)},
		side{"settle, store", till.store(t, url)},
		side{"settle, hub", till.hub(t)})
	bare, store, hub := got[0], got[1], got[2]
	ofStore, ofHub := store.over(bare.sample), hub.over(bare.sample)
	return append([]Row{
		{What: "settle: the store, of the bare SQL", Measured: ofStore.with("%.2f"), Target: "–", Pass: true,
			Note: fmt.Sprintf("store %s; bare statement %s", store, bare)},
		{What: "settle: over HTTP, of the bare SQL", Measured: ofHub.with("%.2f"), Target: "–", Pass: true,
			Note: fmt.Sprintf("hub %s, with two signatures made and one verified for each", hub)},
	}, beside(t, o))
}

// rich is more than any benchmark moves.
const rich = 1_000_000_000

// till is pairs of payers and payees at a hub.
type till struct {
	base       string
	network    string
	from, to   []*stage.Agent
	connection *pgx.Conn
}

func newTill(t testing.TB, h *stage.Hub, url string, pairs int) *till {
	w := &till{base: h.URL, network: payment.Network(h.AID), connection: connect(t, url, 1)[0]}
	for range pairs {
		from, to := stage.NewAgent(t, h), stage.NewAgent(t, h)
		from.Register("bench.settle")
		to.Register("bench.settle")
		w.from, w.to = append(w.from, from), append(w.to, to)
		w.open(t, from.AID(), to.AID())
	}
	return w
}

// open gives accounts more than they are granted. The books do not hold then, which
// is no matter here.
func (w *till) open(t testing.TB, aids ...string) {
	t.Helper()
	_, err := w.connection.Exec(t.Context(), `
		INSERT INTO account (aid, balance) SELECT aid, $2 FROM unnest($1::text[]) AS a (aid)
		ON CONFLICT (aid) DO UPDATE SET balance = account.balance + $2`, aids, rich)
	stage.Must(t, err)
}

// The bare statement: what it takes to keep a payment, to move two balances and to
// write a line for each. Nobody is asked who pays, or whether it has enough.
const bareSettleSQL = `
	WITH kept AS (
		INSERT INTO settlement (auth_id, payer, pay_to, amount, signed, receipt, settled_at) VALUES ($1, $2, $3, 1, $4, $5, $6)),
	moved AS (
		UPDATE account SET balance = balance + CASE aid WHEN $2 THEN -1 ELSE 1 END, entries = entries + 1
		WHERE aid IN ($2, $3) RETURNING aid, entries)
	INSERT INTO account_entry (aid, n, delta, reason, auth_id, at)
	SELECT aid, entries, CASE aid WHEN $2 THEN -1 ELSE 1 END, 'payment', $1, $6 FROM moved`

// authorizationSize and receiptSize are about what is kept of a payment.
const authorizationSize, receiptSize = 420, 470

func (w *till) bare(t testing.TB, url string) func(int) error {
	conns := connect(t, url, len(w.from))
	for i := range conns {
		w.open(t, fmt.Sprint("payer", i), fmt.Sprint("payee", i))
	}
	signed, receipt := rnd(authorizationSize), rnd(receiptSize)
	return func(i int) error {
		_, err := conns[i].Exec(context.Background(), bareSettleSQL, codec.CID(rnd(16)), fmt.Sprint("payer", i), fmt.Sprint("payee", i), signed, receipt, time.Now())
		return err
	}
}

func (w *till) store(t testing.TB, url string) func(int) error {
	books, err := bench.OpenBooks(t.Context(), url, len(w.from))
	stage.Must(t, err)
	t.Cleanup(books.Close)
	signed, receipt := rnd(authorizationSize), rnd(receiptSize)
	return func(i int) error {
		return books.Settle(context.Background(), codec.CID(rnd(16)), w.from[i].AID(), w.to[i].AID(), signed, receipt)
	}
}

// hub settles over HTTP; the payer signs as it goes.
func (w *till) hub(t testing.TB) func(int) error {
	lines := dial(t, w.base, len(w.from))
	return func(i int) error {
		body, err := w.request(i)
		if err != nil {
			return err
		}
		r, err := http.NewRequest(http.MethodPost, w.base+"/x402/settle", bytes.NewReader(body))
		if err != nil {
			return err
		}
		raw, err := encode(r)
		if err != nil {
			return err
		}
		answer, err := lines[i].ask(raw)
		if err == nil && !bytes.Contains(answer, []byte(`"success":true`)) {
			err = fmt.Errorf("a settlement: %s", answer)
		}
		return err
	}
}

func (w *till) request(i int) ([]byte, error) {
	wire, _, err := payment.SignAuthorization(w.from[i].Controller, payment.Authorization{Payer: w.from[i].AID(), PayTo: w.to[i].AID(), Amount: 1,
		Network: w.network, Nonce: codec.CID(rnd(16))}.Issued(time.Now()))
	if err != nil {
		return nil, err
	}
	option := payment.NewOption(w.network, w.to[i].AID(), 1, time.Minute)
	payload := payment.NewPayload(option, wire)
	return json.Marshal(payment.FacilitatorRequest{X402Version: payment.X402Version, PaymentPayload: &payload, PaymentRequirements: &option})
}

// besideAgents is a directory that is in memory, and besideLoad what it is asked a
// second: what matters is what settlements do to it.
const (
	besideAgents = 100_000
	besideLoad   = 300
	settlements  = 50 // a second
)

// Turns are short and many: what else a machine does falls upon few of them, and the
// middle one tells what the settlements did.
const (
	besideTurns = 20
	besideTurn  = 2 * time.Second
)

// beside asks for look-ups in turns with and without settlements, and every other
// time in the opposite order.
func beside(t testing.TB, o options) Row {
	o.Agents, o.Keep = min(o.Agents, besideAgents), ""
	w := newTown(t, o)
	q := w.questions()[0]
	w.warm(t, o, q)
	ask := w.asking(t, o, q)
	pay := newTill(t, w.Hub, w.database, 4).hub(t)
	var alone, crowded, ratios sample
	for turn := range besideTurns {
		p99 := [2]float64{}
		for i := range p99 {
			side := (turn + i) % 2
			p99[side] = besideP99(t, o, ask, pay, side == 1)
		}
		alone, crowded, ratios = append(alone, p99[0]), append(crowded, p99[1]), append(ratios, p99[1]/p99[0])
	}
	return Row{What: "look-up exact, p99 beside 50 settlements a second", Measured: fmt.Sprintf("%.2f", ratios.median()), Target: "≤ 1.1", Pass: ratios.median() <= 1.1,
		Note: fmt.Sprintf("%.1f ms, and %.1f ms without; %d agents, %d look-ups a second, %d turns of %s", crowded.median(), alone.median(), o.Agents, besideLoad, besideTurns, besideTurn)}
}

// besideP99 is of one turn, in milliseconds.
func besideP99(t testing.TB, o options, ask, pay func(int) error, paying bool) float64 {
	var g errgroup.Group
	if paying {
		g.Go(func() error { _, err := pace(4, besideTurn, settlements, pay); return err })
	}
	took, err := pace(o.Workers, besideTurn, besideLoad, ask)
	stage.Must(t, err)
	stage.Must(t, g.Wait())
	return millis(took).at(0.99)
}
