package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/identity"
)

// Federated is a directory of N agents that peers may learn of. Each has keys, a
// card and a key set of its own, as peers verify them: capabilities are those of a
// Population, all of them skills of its card.
type Federated struct {
	N   int
	Hub string // the address of the hub, as their cards name it
	Now time.Time
}

// Fill fills an empty directory through its database, and gives the entries their
// numbers. Most of the time goes into signing.
func (f Federated) Fill(ctx context.Context, url string) error {
	all, err := f.sign()
	if err != nil {
		return err
	}
	db, err := postgres.Open(ctx, postgres.Options{URL: url, StatementTimeout: time.Hour, AppName: "bench"})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := postgres.NewDirectory(db.Pool, nil).Load(ctx, slices.Values(all)); err != nil {
		return err
	}
	numbers := postgres.NewFeed(db.Pool)
	if err := feed.NewNumberer(numbers, nil, time.Now, nil).Catch(ctx); err != nil {
		return err
	}
	_, err = db.Pool.Exec(ctx, `VACUUM (ANALYZE) feed, feed_dirty`)
	return err
}

// sign makes them on all processors, in the order of their AIDs.
func (f Federated) sign() ([]postgres.Stock, error) {
	all := make([]postgres.Stock, f.N)
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for from := 0; from < f.N; from += 100 {
		g.Go(func() (err error) {
			for i := from; i < min(from+100, f.N) && err == nil; i++ {
				all[i], err = f.agent(i)
			}
			return err
		})
	}
	err := g.Wait()
	slices.SortFunc(all, func(a, b postgres.Stock) int { return cmp.Compare(a.AID, b.AID) })
	return all, err
}

func (f Federated) agent(i int) (s postgres.Stock, err error) {
	key, err := identity.NewController(rand.Reader, f.Now)
	if err != nil {
		return s, err
	}
	s = Population{N: f.N, Now: f.Now}.agent(i, key.AID())
	s.Visibility, s.KEL = directory.Federated, key.KEL()
	s.Card, s.Tags = directory.CardFacts{Name: s.Name, Skills: s.Caps()}, nil
	if s.Signed, err = f.card(key, s.Card); err != nil {
		return s, err
	}
	ring, _, err := enckeys.Ring{}.Advance(f.Now)
	if err == nil {
		_, s.Keyset, err = ring.Publish(key, f.Now)
	}
	return s, err
}

func (f Federated) card(key *identity.Controller, facts directory.CardFacts) (*directory.AdmittedCard, error) {
	p := card.Profile{AID: key.AID(), HubURL: f.Hub, Name: facts.Name}
	for _, id := range facts.Skills {
		p.Skills = append(p.Skills, card.Skill{ID: id})
	}
	at := f.Now.UnixMilli()
	unsigned, err := p.Build(card.Stamp{Seq: at, IssuedAt: at, NotBefore: at - 60_000})
	if err != nil {
		return nil, err
	}
	raw, err := card.Sign(key, unsigned, "")
	if err != nil {
		return nil, err
	}
	said, err := card.Read(raw)
	if err != nil {
		return nil, fmt.Errorf("read a card of our own: %w", err)
	}
	return &directory.AdmittedCard{Raw: raw, Mark: said.Mark(), VerifiedAt: f.Now, Facts: facts, Search: strings.ToLower(facts.Name)}, nil
}
