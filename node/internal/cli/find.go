package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/lookup"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card"
)

func (p *Program) findCommand() *cobra.Command {
	var q node.FindQuery
	var all bool
	c := command("find [TEXT] [--cap EXPR] [flags]", "Look for agents, by words or by capability id", between(0, "a text"),
		func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				q.Text = args[0]
			}
			if err := checkQuestion(cmd, q); err != nil {
				return err
			}
			return p.directory(func(d lookup.Directory) error { return p.find(cmd, d, q, all) })
		})
	c.Long = `Find asks the hub. With --cap it asks who serves exactly these ids: 'text.*' is
everything below text, a comma means or, and nobody is an empty answer. A text is
the other question: who mentions it. The two are never mixed.

In the list a # marks an operator's own tag, which no card vouches for and nobody
answers by its id. What an agent charges is read from its public card; nobody but the
hub is asked.`
	c.Flags().StringVar(&q.Cap, "cap", "", "capability ids, exactly: text.digest  'text.*'  'cas.put,cas.get'")
	c.Flags().IntVar(&q.Limit, "limit", 0, "agents of one page, 1 to 1000 (the hub's own when absent)")
	c.Flags().StringVar(&q.Cursor, "cursor", "", "next_cursor of the page before")
	c.Flags().BoolVar(&all, "all", false, "every page")
	return example(c, "anet find --cap text.digest", "anet find --cap 'text.*' --json", `anet find "code review"`)
}

// checkQuestion refuses what the hub would refuse, before it is asked.
func checkQuestion(cmd *cobra.Command, q node.FindQuery) error {
	asked := cmd.Flags().Changed("cap")
	switch {
	case asked && q.Text != "":
		return wrongUse("ask by a text or with --cap, not both: they are different questions")
	case cmd.Flags().Changed("limit") && (q.Limit < 1 || q.Limit > 1000):
		return wrongUse("--limit must be from 1 to 1000")
	case !asked:
		return nil
	}
	_, err := capability.ParseExpr(q.Cap)
	return err
}

func (p *Program) find(cmd *cobra.Command, d lookup.Directory, q node.FindQuery, all bool) error {
	found, err := d.Find(cmd.Context(), q)
	for err == nil && all && found.NextCursor != "" && found.NextCursor != q.Cursor {
		q.Cursor = found.NextCursor
		var page node.Found
		page, err = d.Find(cmd.Context(), q)
		found.Agents, found.NextCursor = append(found.Agents, page.Agents...), page.NextCursor
	}
	if err != nil {
		return err
	}
	d.AddCharges(cmd.Context(), found.Agents)
	return p.show(found, func(w io.Writer) { printFound(w, found) })
}

func printFound(w io.Writer, found node.Found) {
	if len(found.Agents) == 0 {
		fmt.Fprintln(w, "nobody")
		return
	}
	fmt.Fprintln(w, "NAME\tCHARGE\tCAPABILITIES\tRATING\tAID")
	for _, a := range found.Agents {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s%s\n", line(a.Name), charges[a.Charge], words(marked(a)), rating(a.Rating, a.Reviews), line(a.AID), remarks(a))
	}
	if found.NextCursor != "" {
		fmt.Fprintf(w, "there are more: --all, or --cursor %s\n", line(found.NextCursor))
	}
}

// charges are the words for what a card says of prices; of no card nothing is
// known.
var charges = map[string]string{
	"": "-", node.ChargeFree: "free", node.ChargeSome: "some paid", node.ChargeAll: "paid",
}

// marked are the capabilities with a # before those that are only tags.
func marked(a node.Agent) []string {
	out := slices.Clone(a.Capabilities)
	for i, id := range out {
		if slices.Contains(a.Tags, id) {
			out[i] = "#" + id
		}
	}
	return out
}

func rating(mean float64, reviews int64) string {
	if reviews == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f (%d)", mean, reviews)
}

func remarks(a node.Agent) (s string) {
	if a.Quiet {
		s += "  quiet"
	}
	if a.HomeHub != "" {
		s += "  at " + line(a.HomeHub)
	}
	return s
}

func (p *Program) cardCommand() *cobra.Command {
	c := command("card AID", "Show an agent's card and whether its signature holds", exactly("an AID"),
		func(cmd *cobra.Command, args []string) error {
			if err := fullAID(args[0]); err != nil {
				return err
			}
			shown, err := p.card(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := p.show(shown, func(w io.Writer) { printCard(w, shown) }); err != nil || shown.Verified {
				return err
			}
			return exitWith(exitUnverified)
		})
	c.Long = `Card fetches the agent's card and checks it against the agent's own key history.

Prices stand on another card, which the agent gives to who asks, sealed and signed,
and which no hub sees. The running node asks for it where the public card speaks of
payment, or the agent is on a list here; it waits 10 seconds at most and keeps what
it got for a day. Without a running node the public card alone is shown.`
	exiting(c, means(exitUnverified, "the card is not proven"))
	c.ValidArgsFunction = p.completePeers
	return example(c, "anet card bafyrei…", "anet card bafyrei… --json")
}

// card asks the running node, which may ask the agent, or without one the hub.
func (p *Program) card(ctx context.Context, aid string) (shown node.Card, err error) {
	err = p.either(ctx,
		func(c *control.Client) error { shown, err = c.Card(ctx, aid); return err },
		func(datadir.Dir) error {
			return p.directory(func(d lookup.Directory) error {
				if shown, err = d.Card(ctx, aid); err == nil && shown.Prices == nil && shown.Verified && shown.Charge != node.ChargeFree {
					shown.PricesError = control.NotRunning
				}
				return err
			})
		})
	return shown, err
}

// pricesErrors say why there are no prices to show.
var pricesErrors = map[string]string{
	node.CardUnanswered:  "the agent did not answer; try again in a minute",
	node.CardUnreachable: "the agent cannot be asked: its keys are not known at the hub",
	node.CardIsBusy:      "the agent is busy; try again in a minute",
	node.CardUnproven:    "the card with prices that the agent gave does not hold",
	control.NotRunning:   "the agent is asked by a running node: anet up --detach",
}

func printPrices(w io.Writer, shown node.Card) {
	if shown.PricesError != "" {
		fmt.Fprintf(w, "prices\t%s\n", cmp.Or(pricesErrors[shown.PricesError], line(shown.PricesError)))
	}
	if shown.Prices == nil {
		return
	}
	fmt.Fprintln(w, "prices")
	for _, s := range shown.Prices.Skills {
		price := "free"
		if s.Amount != "0" {
			price = line(s.Amount) + " credits"
		}
		fmt.Fprintf(w, "  %s\t%s\n", line(s.ID), price)
	}
	when := ""
	if shown.Prices.Fetched != nil {
		when = ", fetched " + clock(*shown.Prices.Fetched)
	}
	fmt.Fprintf(w, "Prices are signed by the other side%s. A payment follows the quote of its task;\na quote above these is not paid without a person.\n", when)
}

func printCard(w io.Writer, shown node.Card) {
	var c card.Card
	if json.Unmarshal(shown.Card, &c) != nil {
		c = card.Card{Name: "(unreadable)"}
	}
	proof := "verified"
	if !shown.Verified {
		proof = "NOT verified: " + shown.Code
	}
	fmt.Fprintf(w, "%s\t%s\t(%s)\n", line(c.Name), shown.AID, proof)
	fmt.Fprintf(w, "rating\t%s\n", rating(shown.Rating, shown.Reviews))
	if shown.Charge != "" {
		fmt.Fprintf(w, "charge\t%s\n", charges[shown.Charge])
	}
	if c.Description != "" {
		fmt.Fprintf(w, "%s\n", text(c.Description))
	}
	for _, s := range c.Skills {
		fmt.Fprintf(w, "  %s\t%s\n", line(s.ID), line(s.Description))
	}
	printPrices(w, shown)
}
