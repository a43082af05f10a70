// Package lookup asks a hub about other agents and says what of the answer is
// proven: a listing is the hub's word, a card its signer's.
//
// It needs no identity and no running node.
package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Directory is a hub one may ask.
type Directory struct {
	Hub *hubclient.Client
	Now func() time.Time
}

var _ node.Directory = Directory{}

// Find asks one question and gives one page of the answer.
func (d Directory) Find(ctx context.Context, q node.FindQuery) (node.Found, error) {
	page, err := d.Hub.Find(ctx, hubclient.Query{Cap: q.Cap, Text: q.Text, Limit: q.Limit, Cursor: q.Cursor})
	if err != nil {
		return node.Found{}, err
	}
	found := node.Found{Agents: make([]node.Agent, 0, len(page.Agents)), NextCursor: page.NextCursor}
	for _, a := range page.Agents {
		found.Agents = append(found.Agents, agentOf(a))
	}
	return found, nil
}

func agentOf(a wire.Agent) node.Agent {
	out := node.Agent{
		AID: a.AID, Name: a.Name, Capabilities: a.Caps, Tags: a.Tags, Summary: a.Summary, Pricing: a.Pricing,
		Rating: a.AvgRating, Reviews: a.ReviewCount, HomeHub: a.HomeHub, Quiet: a.Quiet,
	}
	if out.Capabilities == nil {
		out.Capabilities = []string{}
	}
	if a.LastSeen != nil {
		out.LastSeen = a.LastSeen.UTC().Format(time.RFC3339)
	}
	return out
}

// Card fetches a card and checks its signature against the agent's own key
// history. A card that fails is shown with the code of what is wrong.
func (d Directory) Card(ctx context.Context, aid string) (node.Card, error) {
	if !identity.ValidAID(aid) {
		return node.Card{}, errs.New(errs.Invalid, "aid_not_full", "%.80q is no full AID; anet find shows them", aid).In("aid")
	}
	raw, err := d.Hub.Card(ctx, aid)
	if errs.KindOf(err) == errs.NotFound {
		return node.Card{}, errs.New(errs.NotFound, "card_unknown",
			"the hub has no card of %s: it is not registered there, offers nothing to strangers, or its hub has no address for others (--public-url)", aid)
	}
	if err != nil {
		return node.Card{}, err
	}
	out := node.Card{AID: aid, Card: json.RawMessage("null")}
	if json.Valid(raw) {
		out.Card = raw
	}
	out.Code = d.check(ctx, aid, raw)
	if out.Verified = out.Code == ""; out.Verified {
		addPrices(&out)
	}
	said, err := d.reputation(ctx, aid)
	out.Rating, out.Reviews = said.AvgRating, said.Reviews
	return out, err
}

// addPrices says what a verified public card says of prices, and shows those that
// stand on it.
func addPrices(out *node.Card) {
	var c card.Card
	if json.Unmarshal(out.Card, &c) != nil {
		return
	}
	out.Charge = node.ChargeOf(c)
	list, err := c.Prices()
	switch {
	case err != nil:
		out.PricesError = string(card.InvalidCard)
	case list != nil:
		out.Prices = node.PricesOf(c, *list, "public")
		out.Prices.Verified = true
	}
}

// chargesAtOnce and mostCharges bound the look-ups of one list.
const (
	chargesAtOnce = 8
	mostCharges   = 200
)

// AddCharges says of each agent what its public card says of prices, where the hub
// has one. Only the hub is asked, for the first agents of a long list.
func (d Directory) AddCharges(ctx context.Context, agents []node.Agent) {
	var g errgroup.Group
	g.SetLimit(chargesAtOnce)
	for i := range agents[:min(len(agents), mostCharges)] {
		if len(agents[i].Capabilities) == len(agents[i].Tags) {
			continue // without a skill there is no card
		}
		g.Go(func() error {
			raw, err := d.Hub.Card(ctx, agents[i].AID)
			var c card.Card
			if err == nil && json.Unmarshal(raw, &c) == nil {
				agents[i].Charge = node.ChargeOf(c)
			}
			return nil
		})
	}
	_ = g.Wait() // a card that cannot be had leaves the charge open
}

// reputation is what reviews of an agent come to. A hub that keeps none knows
// nothing of it.
func (d Directory) reputation(ctx context.Context, aid string) (wire.ReviewSource, error) {
	r, err := d.Hub.Reputation(ctx, aid)
	if errs.KindOf(err) == errs.NotFound {
		return wire.ReviewSource{}, nil
	}
	return r.Combined, err
}

// check gives the code of what is wrong with the card, "" when nothing is.
func (d Directory) check(ctx context.Context, aid string, raw []byte) string {
	v := card.Verifier{KEL: d.kel, Now: d.Now}
	signed, err := v.Verify(ctx, raw)
	switch {
	case err != nil:
		return string(cmp.Or(card.CodeOf(err), card.InvalidCard))
	case signed.AID != aid:
		return string(card.BindingMismatch)
	}
	return ""
}

func (d Directory) kel(ctx context.Context, aid string) ([]byte, error) {
	k, err := d.Hub.KEL(ctx, aid)
	return k.KEL, err
}
