package bench

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/codec"
)

// DatabaseURL leads to the private database of the hub that runs on a data folder.
func DatabaseURL(dataDir string) (string, error) { return embedpg.Attach(dataDir) }

// Statement is a text with its parameters.
type Statement = postgres.Statement

// The statements behind a look-up.
var (
	Exact  = postgres.ExactStatement
	Prefix = postgres.PrefixStatement
	Search = postgres.SearchStatement
)

// Population is a directory of N agents that offer four capabilities each, all
// drawn from the number of the agent: one that everybody offers, two of a pool
// in which each is offered by two hundred or more, and one of its own. A third
// have a card, half have reviews.
type Population struct {
	N   int
	Now time.Time
}

// Common is the capability that everybody offers.
const Common = "text.digest"

// Families is the number of prefixes that the pool is spread over, Members the
// number of ids in each.
func (p Population) Families() int { return min(max(p.N/1000, 1), 100) }

// Members is the number of ids in each family.
func (p Population) Members() int { return min(max(p.N/(100*p.Families()), 1), 100) }

// ID is an id of the pool.
func (p Population) ID(family, member int) string {
	return fmt.Sprintf("%sop%02d", p.Family(family), member)
}

// Family is the prefix of a family of the pool.
func (p Population) Family(family int) string { return fmt.Sprintf("work.f%02d.", family) }

// Fill fills an empty directory through its database.
func (p Population) Fill(ctx context.Context, url string) error {
	db, err := postgres.Open(ctx, postgres.Options{URL: url, StatementTimeout: time.Hour, AppName: "bench"})
	if err != nil {
		return err
	}
	defer db.Close()
	return postgres.NewDirectory(db.Pool, nil).Load(ctx, p.agents())
}

// agents gives them in the order of their AIDs, which keeps the primary keys
// quick to build.
func (p Population) agents() iter.Seq[postgres.Stock] {
	order := make([]int, p.N)
	aids := make([]string, p.N)
	for i := range order {
		order[i], aids[i] = i, codec.CID(fmt.Append(nil, i))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(aids[a], aids[b]) })
	return func(yield func(postgres.Stock) bool) {
		for _, i := range order {
			if !yield(p.agent(i, aids[i])) {
				return
			}
		}
	}
}

func (p Population) agent(i int, aid string) postgres.Stock {
	h := mix(uint64(i))
	a := directory.Agent{
		AID: aid, Name: fmt.Sprintf("agent %d", i), Visibility: directory.HubLocal,
		Tags:         []string{Common, p.pooled(h), p.pooled(h >> 17), fmt.Sprintf("own.n%d", i)},
		Profile:      directory.Profile{Summary: fmt.Sprintf("Number %d takes texts and says in a few words what became of them, day and night.", i)},
		RegisteredAt: p.Now.Add(-time.Duration(h%(20*24*3600)) * time.Second).Truncate(time.Microsecond),
	}
	if h%3 == 0 {
		a.Card = directory.CardFacts{Name: a.Name, Skills: a.Tags[1:3]}
	}
	if h%2 == 0 {
		a.Rating = directory.Rating{Count: int64(1 + h>>8%40)}
		a.Rating.Sum = a.Rating.Count*2 + int64(h>>16)%(3*a.Rating.Count)
	}
	return postgres.Stock{Agent: a, LastSeen: p.Now.Add(-time.Duration(h>>24%600) * time.Second)}
}

func (p Population) pooled(h uint64) string {
	h = mix(h)
	return p.ID(int(h%uint64(p.Families())), int(h>>20%uint64(p.Members())))
}

// mix scatters numbers (splitmix64): the same population on every machine.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
