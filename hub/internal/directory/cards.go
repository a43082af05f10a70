package directory

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/cursor"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Sizes of a page of cards (wire 2, I.5).
const (
	DefaultCards = 50
	MaxCards     = 200
)

// CardQuestion is what GET /a2a/v1/agents is asked for; all that is set has to
// hold. Only what a card says counts here.
type CardQuestion struct {
	Skill string // a skill id
	Tag   string // a tag of a skill
	Text  string // part of name, description or a skill's name, folded
}

// AskCards checks the parameters; nil means absent, and an empty one asks for
// nothing that could be answered.
func AskCards(skill, tag *string, text string) (q CardQuestion, err error) {
	if q.Skill, err = exactly("skill", skill); err != nil {
		return q, err
	}
	if q.Tag, err = exactly("tag", tag); err != nil {
		return q, err
	}
	q.Text = Fold(text)
	return q, checkText("q", text, maxText)
}

func exactly(field string, value *string) (string, error) {
	if value == nil {
		return "", nil
	}
	if *value == "" {
		return "", errs.New(errs.Invalid, field+"_empty", "%s is empty", field).In(field)
	}
	return *value, checkText(field, *value, maxText)
}

// CardRow is a listed card.
type CardRow struct {
	AID        string
	Card       []byte // nil where the agent does not answer the question
	VerifiedAt time.Time
	Rating     Rating
	Life       Life
	Home       string // of an agent of another hub, whose signs of life are known there
}

// Quiet warns that an answer may take its time.
func (r CardRow) Quiet(h Horizon) bool { return r.Home == "" && r.Life.Quiet(h) }

// browsable reports whether lists show the card.
func (r CardRow) browsable(h Horizon) bool { return r.Home != "" || r.Life.Browsable(h) }

// CardStep is one bounded read of the cards in the order of AIDs; it is to cards
// what Step is to agents.
type CardStep struct {
	Rows   []CardRow
	Looked int
}

// CardPage is an answer to a CardQuestion.
type CardPage struct {
	Rows  []CardRow
	Next  string
	Bytes int // of all of it in an answer at most, but for the addresses of hubs

	Horizon Horizon // for the signs of life of its rows
}

// usualCard is what a card is expected to have at most.
const usualCard = 8 << 10

// CardRoom is what an answer says beside a card, but for the address of a hub.
const CardRoom = 512

// ListCards answers with the cards behind a cursor, which is the last AID in
// base64url as on other hubs.
func (d *Directory) ListCards(ctx context.Context, q CardQuestion, limit int, after string, reserve Reserve) (CardPage, error) {
	now := d.now()
	w := cardWalk{limit: limit, horizon: d.life.Horizon(now), budget: newBudget(now, d.now),
		space: space{usual: limit * usualCard, spare: card.MaxBytes, reserve: reserve}}
	if after != "" {
		aid, err := codec.DecodeB64u(after)
		if err != nil || !identity.ValidAID(string(aid)) {
			return CardPage{}, cursor.Invalid()
		}
		w.after = string(aid)
	}
	for {
		if err := w.space.grow(); err != nil {
			return CardPage{}, err
		}
		n := min(limit-len(w.rows)+1, maxStep)
		if q.Text != "" || q.Skill != "" && q.Tag != "" {
			n = max(n, 1000)
		}
		began := d.now()
		st, err := d.store.Cards(ctx, q, w.after, n, w.space.left())
		if err != nil {
			return CardPage{}, err
		}
		if w.take(st, st.Looked < n, began) {
			return w.page(), w.space.grow() // the last card may have gone beyond it
		}
	}
}

type cardWalk struct {
	limit   int
	horizon Horizon
	budget  budget
	space   space
	after   string
	rows    []CardRow
	end     bool
}

// take adds the rows of a step and reports whether the page is complete.
func (w *cardWalk) take(st CardStep, end bool, began time.Time) bool {
	for _, r := range st.Rows {
		if r.Card != nil && r.browsable(w.horizon) {
			size := len(r.Card) + CardRoom
			if len(w.rows) > 0 && (len(w.rows) == w.limit || w.space.bytes+size > MaxPageBytes) {
				return true
			}
			w.space.bytes += size
			w.rows = append(w.rows, r)
		}
		w.after = r.AID
	}
	w.end = end
	spent := w.budget.spend(st.Looked, began)
	return end || spent
}

func (w *cardWalk) page() CardPage {
	p := CardPage{Rows: w.rows, Bytes: w.space.bytes, Horizon: w.horizon}
	if !w.end {
		p.Next = codec.EncodeB64u([]byte(w.after))
	}
	return p
}
