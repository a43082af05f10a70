package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// Peers keeps the hubs this one federates with (peers.Store).
type Peers struct{ pool *pgxpool.Pool }

// NewPeers makes the store.
func NewPeers(pool *pgxpool.Pool) *Peers { return &Peers{pool: pool} }

// peerColumns are what toPeer reads.
const peerColumns = `p.id, p.aid, p.endpoint, p.name, p.delivery, p.discovery, p.paused, p.kel, p.astray, p.from_file`

// toPeer reads peerColumns, and more behind them.
func toPeer(r pgx.Row, more ...any) (p peers.Peer, err error) {
	err = r.Scan(append([]any{&p.ID, &p.AID, &p.Endpoint, &p.Name, &p.Delivery, &p.Discovery, &p.Paused, &p.KEL, &p.Astray, &p.FromFile}, more...)...)
	return p, err
}

// Stamp implements peers.Store. Ids are never given out twice and revisions only
// grow, so no two states of the table have one stamp.
func (s *Peers) Stamp(ctx context.Context) (stamp string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT COALESCE(md5(string_agg(id || ':' || revision, ',' ORDER BY id)), '') FROM peer`).Scan(&stamp)
	return stamp, err
}

// Peers implements peers.Store.
func (s *Peers) Peers(ctx context.Context) ([]peers.Peer, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+peerColumns+` FROM peer p ORDER BY p.position, p.id`)
	if err != nil {
		return nil, fmt.Errorf("read the peers: %w", err)
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (peers.Peer, error) { return toPeer(r) })
}
