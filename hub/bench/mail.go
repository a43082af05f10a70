package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
)

// Mailroom is a hub's store of mailboxes without the hub around it: its
// statements, with single use and quotas, and neither HTTP nor signatures.
type Mailroom struct {
	db    *postgres.DB
	relay *postgres.Relay
}

// OpenMailroom opens the store of a running hub.
func OpenMailroom(ctx context.Context, url string, conns int) (*Mailroom, error) {
	db, err := postgres.Open(ctx, postgres.Options{URL: url, MaxConns: int32(conns), AppName: "bench"})
	if err != nil {
		return nil, err
	}
	proofs := postgres.NewReplay(db.Pool, replay.Bounds{PerSigner: plenty, Total: plenty}, time.Now, slog.New(slog.DiscardHandler))
	return &Mailroom{db, postgres.NewRelay(db.Pool, proofs)}, nil
}

// Close lets go of the database.
func (m *Mailroom) Close() { m.db.Close() }

// Cycle sends an envelope to an agent, polls for it and acknowledges it.
func (m *Mailroom) Cycle(ctx context.Context, aid string, envelope []byte) error {
	limits := relay.Limits{Messages: plenty, Bytes: plenty}
	if _, err := m.relay.Enqueue(ctx, proof(aid), relay.Mail{To: aid, Envelope: envelope, At: time.Now()}, limits); err != nil {
		return err
	}
	found, err := m.relay.Poll(ctx, proof(aid), relay.Look{AID: aid, Limit: 100})
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d messages after a send (%w)", len(found), err)
	}
	_, _, err = m.relay.Ack(ctx, proof(aid), []int64{found[0].ID})
	return err
}

// proof is that of a request nobody made before.
func proof(aid string) replay.Proof {
	p := replay.Proof{AID: aid, SignedAt: time.Now()}
	_, _ = rand.Read(p.Key[:]) // never fails
	return p
}
