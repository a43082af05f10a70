package directory

import (
	"context"
	"time"
)

// Face is an agent asked for by its AID, whether lists show it or not. One that
// is not registered has no view, unless a peer told of it; one that nobody here ever heard of is zero but
// for its AID.
type Face struct {
	AID          string
	View         []byte
	RegisteredAt time.Time
	LastSeen     time.Time
	Member       Member // without its history
	Elsewhere    bool   // the view is that of an agent of another hub
}

// Join adds agents to a page, in the order of aids and as far as there is room
// for: two of them always are. shown tells whether the page has an agent now.
func (d *Directory) Join(ctx context.Context, p *Page, aids []string, reserve Reserve) (shown func(aid string) bool, err error) {
	has := make(map[string]bool, len(p.rows)+len(aids))
	for _, r := range p.rows {
		has[r.Place.AID] = true
	}
	missing := missingFrom(has, aids)
	shown = func(aid string) bool { return has[aid] }
	if len(missing) == 0 {
		return shown, nil
	}
	most := min(len(missing)*usualView, MaxPageBytes/2)
	if err := reserve(2 * int64(most)); err != nil {
		return nil, err
	}
	faces, err := d.store.Faces(ctx, missing, most)
	if err != nil {
		return nil, err
	}
	p.horizon = d.life.Horizon(d.now())
	for _, f := range faces {
		if err := p.add(f); err != nil {
			return nil, err
		}
		has[f.AID] = true
	}
	return shown, nil
}

// missingFrom are the AIDs that has does not hold, each once.
func missingFrom(has map[string]bool, aids []string) (missing []string) {
	seen := map[string]bool{}
	for _, aid := range aids {
		if !has[aid] && !seen[aid] {
			seen[aid], missing = true, append(missing, aid)
		}
	}
	return missing
}

func (p *Page) add(f Face) (err error) {
	r := Row{Place: Place{AID: f.AID, RegisteredAt: f.RegisteredAt}, View: f.View, LastSeen: f.LastSeen, Gone: f.Elsewhere}
	if f.View == nil {
		r.Gone = true
		if r.View, err = render(f.absent()); err != nil {
			return err
		}
	}
	p.rows, p.Count = append(p.rows, r), p.Count+1
	p.bytes += len(r.View) + liveRoom
	return nil
}
