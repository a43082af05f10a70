package postgres

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/learned"
)

// columns are rows of learned, turned.
type columns struct {
	aids, homes, names, summaries                []string
	searches, cardSearches                       []string
	listed                                       []bool
	sums, counts                                 []int64
	caps, tags                                   [][]byte
	entries, cards, keysets, views, kels, hashes [][]byte
	fedSeqs, seqs                                []int64
	cardSeqs, adpSeqs                            []*int64
	ratings, reviews                             []int32
	taught                                       []time.Time
	sizes                                        []int32
}

func toColumns(list []learned.Taken) (c columns, err error) {
	for _, t := range list {
		view, err := t.Agent.Rendered()
		if err != nil {
			return c, err
		}
		place := t.Agent.Place()
		c.aids, c.homes, c.names = append(c.aids, t.AID), append(c.homes, t.Agent.Home), append(c.names, t.Agent.Name())
		c.summaries, c.searches = append(c.summaries, t.Agent.Summary), append(c.searches, t.Agent.Search())
		c.caps, c.tags = append(c.caps, asJSON(t.Agent.Caps())), append(c.tags, asJSON(t.Tags()))
		c.entries, c.cards, c.keysets = append(c.entries, t.Hash[:]), append(c.cards, t.Entry.Card), append(c.keysets, t.Keys)
		c.views, c.kels = append(c.views, view), append(c.kels, t.Under)
		c.fedSeqs, c.seqs = append(c.fedSeqs, t.FedSeq), append(c.seqs, t.Seq())
		c.listed, c.sums, c.counts = append(c.listed, t.Agent.Listed()), append(c.sums, t.Agent.Rating.Sum), append(c.counts, t.Agent.Rating.Count)
		c.ratings, c.reviews = append(c.ratings, place.Rating), append(c.reviews, place.Reviews)
		c.taught, c.sizes = append(c.taught, t.Agent.TaughtAt), append(c.sizes, int32(t.Size()))
		c.mark(t)
	}
	return c, nil
}

// mark keeps apart what the two streams count.
func (c *columns) mark(t learned.Taken) {
	if t.Card == nil {
		c.cardSeqs, c.hashes, c.adpSeqs = append(c.cardSeqs, nil), append(c.hashes, nil), append(c.adpSeqs, &t.ADPSeq)
		c.cardSearches = append(c.cardSearches, "")
		return
	}
	c.cardSearches = append(c.cardSearches, t.Card.Search)
	c.cardSeqs, c.hashes, c.adpSeqs = append(c.cardSeqs, &t.Card.Mark.Seq), append(c.hashes, t.Card.Mark.Hash[:]), append(c.adpSeqs, nil)
}

func (c columns) args(more pgx.NamedArgs) pgx.NamedArgs {
	for name, v := range map[string]any{
		"aids": c.aids, "homes": c.homes, "names": c.names, "summaries": c.summaries, "searches": c.searches,
		"caps": c.caps, "tags": c.tags, "entries": c.entries, "cards": c.cards, "keysets": c.keysets,
		"views": c.views, "kels": c.kels, "card_hashes": c.hashes, "fed_seqs": c.fedSeqs, "seqs": c.seqs,
		"card_seqs": c.cardSeqs, "adp_seqs": c.adpSeqs, "ratings": c.ratings, "reviews": c.reviews,
		"taught": c.taught, "sizes": c.sizes, "card_searches": c.cardSearches, "listed": c.listed, "sums": c.sums, "counts": c.counts,
	} {
		more[name] = v
	}
	return more
}

// asJSON carries a list inside of a list.
func asJSON(s []string) []byte {
	out, _ := json.Marshal(list(s)) // text is always some JSON
	return out
}
