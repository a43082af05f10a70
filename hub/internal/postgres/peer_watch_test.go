package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// What metrics and pages tell of peers stands in one answer, whatever they taught.
func TestRecordsOfPeers(t *testing.T) {
	s := peerTable(t, "one", "two")
	one, two := s.named(t, "one"), s.named(t, "two")
	read := peersAt.Add(time.Hour)
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`UPDATE peer SET last_success_at = $1 WHERE id = $2`, []any{read, one.ID}},
		{`INSERT INTO teacher (peer_id, heard_at, agents) VALUES ($1, $2, 12)`, []any{one.ID, read}},
		{`INSERT INTO pull (peer_id, stream, next_at, leased_until, last_ok_at) VALUES ($1, 'cards', $2, $2, $2), ($1, 'reviews', $2, $2, NULL)`, []any{one.ID, read}},
		{`INSERT INTO pull_held (peer_id, stream, aid, fed_seq, reason, told) VALUES ($1, 'cards', 'a', 1, 'x', 1), ($1, 'cards', 'b', 2, 'x', 1)`, []any{one.ID}},
	} {
		if _, err := s.pool.Exec(t.Context(), q.sql, q.args...); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Records(t.Context())
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	r := got[one.ID]
	want := []peers.Reading{{Stream: peers.Cards, LastOK: read, Held: 2}, {Stream: peers.Reviews}}
	same := slices.EqualFunc(r.Streams, want, func(a, b peers.Reading) bool {
		return a.Stream == b.Stream && a.LastOK.Equal(b.LastOK) && a.Held == b.Held
	})
	if !same || r.Agents != 12 || !r.LastSuccess.Equal(read) || !r.AddedAt.Equal(peersAt) {
		t.Errorf("%+v", r)
	}
	if r := got[two.ID]; len(r.Streams) != 0 || r.Agents != 0 || !r.LastSuccess.IsZero() {
		t.Errorf("a peer nothing was learned of: %+v", r)
	}
}
