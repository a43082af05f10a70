package main

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
	"github.com/anet-hub/anet/shared/wire"
)

const mailSize = 1 << 10

// mail compares a cycle of send, poll and ack of one envelope: by the bare
// statements, by the hub's statements with all they hold to, by the hub over
// HTTP with three signed requests, and over HTTP with no database behind it.
// Every worker has a mailbox of its own, on the same tables.
func mail(t testing.TB, o options) []Row {
	h := stage.StartHub(t, stage.HubConfig{Args: freely})
	url, err := bench.DatabaseURL(h.Config.DataDir)
	stage.Must(t, err)
	agents := make([]*stage.Agent, o.Workers)
	known := map[string][]byte{}
	for i := range agents {
		agents[i] = stage.NewAgent(t, h.Hub)
		agents[i].Register("bench.mail")
		known[agents[i].AID()] = agents[i].KEL()
	}
	face := startFace(t, bench.Face{Mail: stage.Sealed(agents[0].AID(), mailSize), KELs: known})
	got := compare(t, o, h,
		side{"mail, bare statements", bareMail(t, o, url)},
		side{"mail, store", storeMail(t, o, url)},
		side{"mail, hub", signedMail(t, h.Hub, agents)},
		side{"mail, HTTP and signatures", signedMail(t, face, agents)})
	bare, store, hub, faced := got[0], got[1], got[2], got[3]
	ofStore, ofHub, ofBoth := store.over(bare.sample), hub.over(bare.sample), hub.over(bare.after(faced.sample))
	return []Row{
		{What: "send, poll, ack: the store, of the bare SQL", Measured: ofStore.with("%.2f"), Target: "≥ 0.7", Pass: ofStore.median() >= 0.7,
			Goal: "≥ 0.8", Met: ofStore.median() >= 0.8, Note: fmt.Sprintf("store %s; bare statements %s", store, bare)},
		{What: "send, poll, ack: over HTTP, of the bare SQL", Measured: ofHub.with("%.2f"), Target: "≥ 0.7", Pass: ofHub.median() >= 0.7,
			Goal: "≥ 0.8", Met: ofHub.median() >= 0.8, Note: fmt.Sprintf("hub %s; three signed requests and no database %s", hub, faced)},
		{What: "send, poll, ack: over HTTP, of SQL and HTTP together", Measured: ofBoth.with("%.2f"), Target: "–", Pass: true,
			Note: "held against the bare statements and the three empty requests one after the other"},
	}
}

// signedMail is the cycle of each worker's own mailbox.
func signedMail(t testing.TB, h *stage.Hub, agents []*stage.Agent) func(int) error {
	lines := dial(t, h.URL, len(agents))
	envelopes := make([][]byte, len(agents))
	for i, a := range agents {
		var err error
		envelopes[i], err = json.Marshal(wire.Send{ToAID: a.AID(), Envelope: stage.Sealed(a.AID(), mailSize)})
		stage.Must(t, err)
	}
	return func(w int) error {
		c := cycle{agents[w].At(h), lines[w]}
		if _, err := c.ask(wire.ActionSend, envelopes[w]); err != nil {
			return err
		}
		page, err := c.ask(wire.ActionPoll, []byte(`{"wait_ms":1000}`))
		if err != nil {
			return err
		}
		var polled wire.Polled
		if err := json.Unmarshal(page, &polled); err != nil || len(polled.Messages) != 1 {
			return fmt.Errorf("a poll after a send: %s (%w)", page, err)
		}
		_, err = c.ask(wire.ActionAck, fmt.Appendf(nil, `{"ids":[%d]}`, polled.Messages[0].ID))
		return err
	}
}

// cycle is one worker's way to a hub.
type cycle struct {
	agent *stage.Agent
	line  *line
}

func (c cycle) ask(action string, body []byte) ([]byte, error) {
	raw, err := encode(c.agent.Request(action, "/relay/"+action, body))
	if err != nil {
		return nil, err
	}
	return c.line.ask(raw)
}

// The bare statements: what it takes to give a message the next id of its
// mailbox and to keep it, to read it, and to remove it. No quota, no single use
// of requests, nobody asked who sends.
const (
	bareSendSQL = `
		WITH box AS (
			UPDATE mailbox SET last_id = last_id + 1, count = count + 1, bytes = bytes + $2 WHERE aid = $1 RETURNING last_id)
		INSERT INTO message (to_aid, id, size, created_at, envelope) SELECT $1, last_id, $2, $3, $4 FROM box`
	barePollSQL = `SELECT id, size, envelope FROM message WHERE to_aid = $1 AND id > 0 ORDER BY id LIMIT 100`
	bareAckSQL  = `
		WITH gone AS (DELETE FROM message WHERE to_aid = $1 AND id = $2 RETURNING size)
		UPDATE mailbox SET count = count - 1, bytes = bytes - gone.size FROM gone WHERE aid = $1`
)

func bareMail(t testing.TB, o options, url string) func(int) error {
	conns := connect(t, url, o.Workers)
	openMailboxes(t, conns[0], "bare", o.Workers)
	envelope := rnd(mailSize)
	return func(w int) error { return bareCycle(conns[w], fmt.Sprint("bare", w), envelope) }
}

func bareCycle(conn *pgx.Conn, aid string, envelope []byte) error {
	ctx := context.Background()
	if _, err := conn.Exec(ctx, bareSendSQL, aid, len(envelope), time.Now(), envelope); err != nil {
		return err
	}
	var id, size int64
	var read []byte
	if err := conn.QueryRow(ctx, barePollSQL, aid).Scan(&id, &size, &read); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, bareAckSQL, aid, id)
	return err
}

// openMailboxes makes mailboxes of agents that never registered.
func openMailboxes(t testing.TB, conn *pgx.Conn, name string, n int) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `
		INSERT INTO mailbox (aid, is_open, last_id) SELECT $1 || i::text, true, 1 FROM generate_series(0, $2 - 1) AS i`, name, n)
	stage.Must(t, err)
}

// storeMail asks the hub's store.
func storeMail(t testing.TB, o options, url string) func(int) error {
	room, err := bench.OpenMailroom(t.Context(), url, o.Workers)
	stage.Must(t, err)
	t.Cleanup(room.Close)
	openMailboxes(t, connect(t, url, 1)[0], "store", o.Workers)
	envelope := rnd(mailSize)
	return func(w int) error { return room.Cycle(context.Background(), fmt.Sprint("store", w), envelope) }
}
