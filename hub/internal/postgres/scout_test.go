package postgres

import (
	"testing"

	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/pgtest"
)

func TestWhoIsHere(t *testing.T) {
	pool := pgtest.New(t)
	for _, a := range []struct {
		aid, name, cardName, visibility string
		shown                           bool
	}{
		{"aid-1", "one", "", "hub-local", true},
		{"aid-2", "two", "Printer", "federated", true},
		{"aid-3", "three", "", "public", true},
		{"aid-4", "four", "", "federated", false},
	} {
		_, err := pool.Exec(t.Context(), `INSERT INTO member (aid, kel, first_seen_at) VALUES ($1, '', $2)`, a.aid, peersAt)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pool.Exec(t.Context(), `
			INSERT INTO agent (aid, name, card_name, tags, visibility, registered_at, listed, view, search, shown)
			VALUES ($1, $2, $3, '{}', $4, $5, true, '', '', $6)`, a.aid, a.name, a.cardName, a.visibility, peersAt, a.shown)
		if err != nil {
			t.Fatal(err)
		}
	}
	s := NewHere(pool)
	if e, err := s.Exposure(t.Context()); err != nil || e != (learned.Exposure{Federated: 2, Registered: 4}) {
		t.Errorf("%+v, %v", e, err)
	}
	list, err := s.Locals(t.Context(), []string{"aid-3", "aid-9"}, []string{"printer", "two"})
	if err != nil || len(list) != 2 || list[0] != (learned.Local{AID: "aid-3", Name: "three"}) || list[1] != (learned.Local{AID: "aid-2", Name: "Printer"}) {
		t.Errorf("%+v, %v", list, err)
	}
}
