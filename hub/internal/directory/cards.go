package directory

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/cursor"
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
	Rows []CardRow
	Next string

	Horizon Horizon // for the signs of life of its rows
}

// ListCards answers with the cards behind a cursor, which is the last AID in
// base64url as on other hubs.
func (d *Directory) ListCards(ctx context.Context, q CardQuestion, limit int, after string) (CardPage, error) {
	now := d.now()
	w := cardWalk{limit: limit, horizon: d.life.Horizon(now), budget: newBudget(now, d.now)}
	if after != "" {
		aid, err := codec.DecodeB64u(after)
		if err != nil || !identity.ValidAID(string(aid)) {
			return CardPage{}, cursor.Invalid()
		}
		w.after = string(aid)
	}
	for {
		n := min(limit-len(w.rows)+1, maxStep)
		if q.Text != "" || q.Skill != "" && q.Tag != "" {
			n = max(n, 1000)
		}
		began := d.now()
		st, err := d.store.Cards(ctx, q, w.after, n)
		if err != nil || w.take(st, st.Looked < n, began) {
			return w.page(), err
		}
	}
}

type cardWalk struct {
	limit   int
	horizon Horizon
	budget  budget
	after   string
	rows    []CardRow
	bytes   int
	end     bool
}

// take adds the rows of a step and reports whether the page is complete.
func (w *cardWalk) take(st CardStep, end bool, began time.Time) bool {
	for _, r := range st.Rows {
		if r.Card != nil && r.browsable(w.horizon) {
			if len(w.rows) > 0 && (len(w.rows) == w.limit || w.bytes+len(r.Card) > MaxPageBytes) {
				return true
			}
			w.bytes += len(r.Card)
			w.rows = append(w.rows, r)
		}
		w.after = r.AID
	}
	w.end = end
	spent := w.budget.spend(st.Looked, began)
	return end || spent
}

func (w *cardWalk) page() CardPage {
	p := CardPage{Rows: w.rows, Horizon: w.horizon}
	if !w.end {
		p.Next = codec.EncodeB64u([]byte(w.after))
	}
	return p
}
