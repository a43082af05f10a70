package directory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card"
)

// vettedCard is a submitted network card after its verification: a card or the
// reason there is none.
type vettedCard struct {
	card *AdmittedCard
	err  error
}

var errOtherAgent = errors.New("the card is another agent's")

// vetCard verifies a card under the history it was submitted with (wire 2, H.4).
func (d *Directory) vetCard(ctx context.Context, aid string, raw, kel []byte) vettedCard {
	if len(raw) == 0 {
		return vettedCard{}
	}
	foreign := false
	verifier := card.Verifier{Replay: d.replay, Now: d.now, KEL: func(_ context.Context, named string) ([]byte, error) {
		if foreign = named != aid; foreign {
			return nil, errOtherAgent
		}
		return kel, nil
	}}
	v, err := verifier.Verify(ctx, raw)
	switch {
	case foreign:
		return vettedCard{err: &card.Error{Code: card.BindingMismatch, Message: "the card names another AID than the registration"}}
	case err != nil:
		return vettedCard{err: err}
	}
	return vettedCard{card: Admit(v, raw, d.now())}
}

// Admit takes from a verified card what the directory finds it by.
func Admit(v *card.Verified, raw []byte, now time.Time) *AdmittedCard {
	c := &AdmittedCard{Raw: raw, Mark: v.Mark(), VerifiedAt: now, Facts: CardFacts{Name: printable(v.Card.Name)}}
	ids, words := make([]string, 0, len(v.Card.Skills)), []string{v.Card.Name, v.Card.Description}
	seen := map[string]bool{}
	for _, s := range v.Card.Skills {
		ids, words = append(ids, s.ID), append(words, s.Name)
		for _, tag := range s.Tags {
			if !seen[tag] && storable(tag) {
				c.Tags = append(c.Tags, tag)
			}
			seen[tag] = true
		}
	}
	c.Facts.Skills, c.Ignored = capability.Keep(ids)
	c.Search = Fold(printable(strings.Join(words, searchSeparator)))
	return c
}

// printable drops what a text column cannot hold.
func printable(s string) string { return strings.ReplaceAll(s, "\x00", "") }

func hasZero(s string) bool { return strings.ContainsRune(s, 0) }

// cardOutcome is what becomes of the card at a registration.
type cardOutcome struct {
	change          CardChange
	facts           CardFacts
	ignored         []string
	status, problem string
}

// decideCard compares a vetted card with the mark on record. Whatever was
// submitted, a card that stays listed verifies under the history in force.
func (d *Directory) decideCard(ctx context.Context, app Application, v vettedCard, rec Record) cardOutcome {
	switch {
	case app.Withdraw:
		return cardOutcome{change: CardChange{Drop: len(rec.Card) > 0}, status: statusWithdrawn}
	case v.err != nil:
		return d.keepCard(ctx, app, rec, statusInvalid, v.err)
	case v.card == nil:
		return d.keepCard(ctx, app, rec, statusAbsent, nil)
	}
	step, err := card.Decide(rec.CardMark, v.card.Mark)
	if err != nil {
		return d.keepCard(ctx, app, rec, statusConflict, err)
	}
	out := cardOutcome{facts: v.card.Facts, ignored: v.card.Ignored, status: statusOK}
	if step == card.Same && len(rec.Card) > 0 {
		out.status = statusUnchanged
	}
	if !bytes.Equal(rec.Card, v.card.Raw) {
		out.change.Store = v.card
	}
	return out
}

// keepCard leaves the card on record in place if it still verifies, and drops it
// from the lists otherwise.
func (d *Directory) keepCard(ctx context.Context, app Application, rec Record, status string, why error) cardOutcome {
	out := cardOutcome{status: status}
	if why != nil {
		out.problem = why.Error()
	}
	if len(rec.Card) == 0 || rec.Agent == nil {
		return out
	}
	out.facts = rec.Agent.Card
	if bytes.Equal(rec.KEL, app.KEL) {
		return out
	}
	if again := d.vetCard(ctx, app.AID, rec.Card, app.KEL); again.err != nil {
		out.change.Drop, out.facts = true, CardFacts{}
		out.problem = cmp.Or(out.problem, again.err.Error()) + "; the card on record was dropped"
	}
	return out
}
