package bench

import (
	"context"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/identity"
)

type on struct{}

func (on) DiscoveryOn() bool { return true }

// What is filled in is told, and holds whatever a peer verifies.
func TestFederatedAgentsVerify(t *testing.T) {
	const agents, hub = 120, "https://hub.example.org"
	url, now := pgtest.URL(t), time.Now().Truncate(time.Millisecond)
	if err := (Federated{N: agents, Hub: hub, Now: now}).Fill(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), postgres.Options{URL: url, AppName: "bench"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	streams, seen := feed.New(postgres.NewFeed(db.Pool), on{}), map[string]bool{}
	for after := int64(0); ; {
		page, err := streams.Cards(t.Context(), feed.Cards, after, hub, func(int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if page.Cursor == after {
			break
		}
		after = page.Cursor
		for _, e := range page.Cards {
			v := card.Verifier{Replay: identity.Replay, Now: time.Now,
				KEL: func(context.Context, string) ([]byte, error) { return e.KEL, nil }}
			said, err := v.Verify(t.Context(), e.Card)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := enckeys.Verify(e.Keys, said.AID, e.KEL, identity.Replay, time.Now()); err != nil {
				t.Fatal(err)
			}
			seen[said.AID] = true
		}
	}
	if len(seen) != agents {
		t.Errorf("%d agents are told, want %d", len(seen), agents)
	}
}
