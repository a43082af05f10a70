package postgres

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

func TestCertsAreKept(t *testing.T) {
	now := time.UnixMilli(1_767_225_600_000)
	s := NewCerts(pgtest.New(t), func() time.Time { return now })
	put := func(name, data string) {
		t.Helper()
		if err := s.Store(t.Context(), name, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(name, want string) {
		t.Helper()
		data, err := s.Load(t.Context(), name)
		if string(data) != want || (want == "") != (errs.KindOf(err) == errs.NotFound) {
			t.Errorf("%s holds %q, %v, want %q", name, data, err, want)
		}
	}
	holds("hub.example.org", "")
	put("hub.example.org", "first")
	put("hub.example.org", "second")
	put("abc+http-01", "answer")
	put("hub.example.org+token", "certificate")
	holds("hub.example.org", "second")
	holds("abc+http-01", "answer")

	now = now.Add(openChallenge + time.Minute)
	put("def+http-01", "answer")
	holds("abc+http-01", "")
	holds("hub.example.org+token", "")
	holds("hub.example.org", "second")
	if err := s.Forget(t.Context(), "def+http-01"); err != nil {
		t.Error(err)
	}
	holds("def+http-01", "")
}

func TestATurnIsOnesAtATime(t *testing.T) {
	now := time.UnixMilli(1_767_225_600_000)
	s := NewCerts(pgtest.New(t), func() time.Time { return now })
	takes := func(who string, want bool) {
		t.Helper()
		if got, err := s.TakeTurn(t.Context(), who, now.Add(time.Minute)); got != want || err != nil {
			t.Errorf("%s takes the turn: %v, %v, want %v", who, got, err, want)
		}
	}
	takes("a", true)
	takes("b", false)
	takes("a", true)
	if err := s.EndTurn(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	takes("b", false)
	now = now.Add(time.Minute)
	takes("b", true)
	takes("a", false)
	if err := s.EndTurn(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	takes("a", true)
}
