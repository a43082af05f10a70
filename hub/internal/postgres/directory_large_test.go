package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func plenty(int64) error { return nil }

// large are agents whose views are as large as views can be.
func large(n int, at time.Time) (stock []Stock) {
	pad := strings.Repeat("x", wire.MaxCapBytes-10)
	for i := range n {
		a := directory.Agent{AID: codec.CID(fmt.Append(nil, i)), Name: "large", Visibility: directory.HubLocal, RegisteredAt: at}
		for c := range wire.MaxCaps - 2 {
			a.Tags = append(a.Tags, fmt.Sprintf("c%d.%s", c, pad))
		}
		a.Tags = append(a.Tags, "every", fmt.Sprintf("half.%d", i%2))
		stock = append(stock, Stock{Agent: a, LastSeen: at})
	}
	return stock
}

// A step holds no more than fills a page, and nobody is lost where it stops.
func TestLargeViewsEndAStep(t *testing.T) {
	const agents = 60
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := NewDirectory(pgtest.New(t), nil)
	if err := store.Load(t.Context(), slices.Values(large(agents, at))); err != nil {
		t.Fatal(err)
	}
	for _, caps := range [][]string{{"every"}, {"every", "half.0", "half.1"}} {
		st, err := store.Ranked(t.Context(), caps, firstPlace, 256, directory.MaxPageBytes)
		var held int
		for _, r := range st.Rows {
			held += len(r.View)
		}
		if err != nil || held > directory.MaxPageBytes+len(caps)*len(st.Rows[0].View) || st.Looked != 256 {
			t.Errorf("%q: a step holds %d bytes of %d, looked at %d (%v)", caps, held, directory.MaxPageBytes, st.Looked, err)
		}
	}
	d := directory.New(store, &lives{Lives: directorytest.Usual{}, store: store}, admission.Door{}, identity.Replay, func() time.Time { return at })
	for _, value := range []string{"every", "every,half.0,half.1", "half.*", "*"} {
		q, err := directory.AskCap(value)
		if err != nil {
			t.Fatal(err)
		}
		wantAll(t, d, value, q, agents)
	}
	q, _ := directory.AskText("large")
	wantAll(t, d, "large", q, agents)
}

// wantAll follows the pages and wants every agent once.
func wantAll(t *testing.T, d *directory.Directory, name string, q directory.Question, want int) {
	t.Helper()
	seen, cursor := map[string]int{}, ""
	for range 1000 {
		p, err := d.List(t.Context(), q, directory.MaxPage, cursor, plenty)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, part := range strings.Split(string(p.AppendViews(nil)), `{"aid":"`)[1:] {
			seen[part[:59]]++
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	for aid, n := range seen {
		if n != 1 {
			t.Errorf("%s shows %s %d times", name, aid, n)
		}
	}
	if len(seen) != want {
		t.Errorf("%s shows %d agents, want %d", name, len(seen), want)
	}
}
