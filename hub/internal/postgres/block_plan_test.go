package postgres

import (
	"net/netip"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/relay"
)

// The statement that uses up a request is planned once, whether it is known where
// the request came from or not: planning takes longer than the look-ups in it.
func TestARequestIsNotPlannedAnew(t *testing.T) {
	for _, at := range []netip.Addr{{}, from} {
		h := newHub(t)
		n := h.node()
		h.register(n, n.Register("n", "x"))
		conf := h.pool.Config()
		conf.MaxConns = 1
		one, err := pgxpool.NewWithConfig(t.Context(), conf)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		mail := NewRelay(one, newReplay(one, h.clock))
		for range 30 {
			p := h.known(n)
			p.From = at
			if _, err := mail.Poll(t.Context(), p, relay.Look{AID: n.AID(), Limit: 1}); err != nil {
				t.Fatal(err)
			}
			h.clock.advance(time.Millisecond)
		}
		var anew int
		err = one.QueryRow(t.Context(), `SELECT custom_plans FROM pg_prepared_statements WHERE statement LIKE 'WITH once%' ORDER BY custom_plans DESC LIMIT 1`).Scan(&anew)
		if err != nil || anew > 5 {
			t.Errorf("from %v: %d of 30 polls were planned anew, %v, want the first five at most", at, anew, err)
		}
	}
}
