package learned

import "context"

// Looker reads what stands on record of AIDs; all are in the answer.
type Looker interface {
	Look(ctx context.Context, j Job, aids []string) (map[string]Record, error)
}

// Previewed is an entry with what would become of it.
type Previewed struct {
	Vetted
	Verdict
}

// Preview says what would become of a page that a peer answered to a reading from
// after, and stores nothing. It stands on the very rules that entries are taken
// by.
func (x Vetter) Preview(ctx context.Context, on Looker, from Source, body []byte, after int64, room Room) (cursor int64, list []Previewed, err error) {
	p, err := readPage(body, after)
	if err != nil {
		return 0, nil, err
	}
	entries := p.cards(from.Stream)
	known, err := on.Look(ctx, Job{Peer: from.Peer, Stream: from.Stream}, entries.aids())
	if err != nil {
		return 0, nil, err
	}
	list = make([]Previewed, len(entries.Entries))
	inParallel(len(list), func(i int) {
		rec := known[entries.Entries[i].AID]
		v := x.vet(ctx, from, entries.Entries[i], rec)
		list[i] = Previewed{v, Decide(v, rec, room, x.Now())}
	})
	return p.Cursor, list, nil
}
