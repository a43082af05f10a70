package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/pgtest"
)

// BenchmarkCycle is one message of 1 KiB sent, polled and acknowledged: through
// the store, and by the bare statements in the same order, which know nothing
// of single use or quotas. Compare cycles/s.
func BenchmarkCycle(b *testing.B) {
	for _, workers := range []int{2, 8, 32} {
		b.Run(fmt.Sprintf("bare-%d", workers), func(b *testing.B) { cycles(b, workers, bareCycle) })
		b.Run(fmt.Sprintf("store-%d", workers), func(b *testing.B) { cycles(b, workers, storeCycle) })
	}
}

func cycles(b *testing.B, workers int, cycle func(*mailroom, string, []byte) error) {
	m := newMailroom(b, pgtest.New(b))
	envelope := make([]byte, 1<<10)
	_, _ = rand.Read(envelope)
	for i := range workers {
		m.open(fmt.Sprint("aid", i))
		register(b, m.pool, fmt.Sprint("aid", i), m.now())
	}
	var worker atomic.Int64
	b.SetParallelism(max(1, workers/2)) // times GOMAXPROCS
	b.ResetTimer()
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		aid := fmt.Sprint("aid", (worker.Add(1)-1)%int64(workers))
		for pb.Next() {
			if err := cycle(m, aid, envelope); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "cycles/s")
}

func storeCycle(m *mailroom, aid string, envelope []byte) error {
	ctx := context.Background()
	if _, err := m.Enqueue(ctx, m.sign(aid), relay.Mail{To: aid, Envelope: envelope, At: m.now()}, roomy); err != nil {
		return err
	}
	got, err := m.Poll(ctx, m.sign(aid), relay.Look{AID: aid, Limit: 100})
	if err != nil {
		return err
	}
	ids := make([]int64, len(got))
	for i := range got {
		ids[i] = got[i].ID
	}
	_, _, err = m.Ack(ctx, m.sign(aid), ids)
	return err
}

func bareCycle(m *mailroom, aid string, envelope []byte) error {
	ctx := context.Background()
	if err := bareSend(ctx, m.pool, aid, envelope, m.now()); err != nil {
		return err
	}
	rows, err := m.pool.Query(ctx, `SELECT id, size, envelope FROM message WHERE to_aid = $1 AND id > 0 ORDER BY id LIMIT 100`, aid)
	got, err := collect(rows, err)
	if err != nil {
		return err
	}
	ids := make([]int64, len(got))
	for i := range got {
		ids[i] = got[i].ID
	}
	return bareAck(ctx, m.pool, aid, ids)
}

func bareSend(ctx context.Context, pool *pgxpool.Pool, aid string, envelope []byte, now time.Time) error {
	_, err := pool.Exec(ctx, `
		WITH box AS (UPDATE mailbox SET last_id = last_id + 1, count = count + 1, bytes = bytes + $2 WHERE aid = $1 RETURNING last_id)
		INSERT INTO message (to_aid, id, size, created_at, envelope) SELECT $1, last_id, $2, $3, $4 FROM box`,
		aid, len(envelope), now, envelope)
	return err
}

func bareAck(ctx context.Context, pool *pgxpool.Pool, aid string, ids []int64) error {
	b := &pgx.Batch{}
	b.Queue(`UPDATE mailbox SET count = count - $2 WHERE aid = $1`, aid, len(ids))
	b.Queue(`DELETE FROM message WHERE to_aid = $1 AND id = ANY ($2)`, aid, ids)
	return pool.SendBatch(ctx, b).Close()
}
