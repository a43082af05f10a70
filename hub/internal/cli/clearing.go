package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/plain"
)

func (p *Program) creditAllow() *cobra.Command {
	limit := uint64(0)
	c := p.acting("allow PEER", "Take payments across with a peer: it may owe this hub up to a limit", cmdline.Exactly("a peer's name, AID or URL"), func(ctx context.Context, j *job) error {
		return p.clearing(ctx, j, func(s peers.Standing) error { return j.Credits.Allow(ctx, s.AID, true, limit, j.by) })
	})
	cmdline.Credits(c.Flags(), &limit, "limit", limit, "credits it may owe at most; 0: only this hub may owe it")
	c.Long = `Allow lets agents here be paid on the ledger of a peer, and agents here pay agents
of that peer. Each such payment is credited on the other hub's word: it owes the
amount, and this hub's own credits are out by as much. A limit bounds what can be
lost. What one hub owes the other is settled between the two operators; see
anet-hub credit due and anet-hub credit clear.`
	return p.completing(cmdline.Example(c, "anet-hub credit allow NAME --limit 1000"), peerNames)
}

func (p *Program) creditDisallow() *cobra.Command {
	c := p.acting("disallow PEER", "Take no more payments across with a peer; debts stay", cmdline.Exactly("a peer's name, AID or URL"), func(ctx context.Context, j *job) error {
		return p.clearing(ctx, j, func(s peers.Standing) error { return j.Credits.Allow(ctx, s.AID, false, 0, j.by) })
	})
	return p.completing(cmdline.Example(c, "anet-hub credit disallow NAME"), peerNames)
}

// clearing does something about one peer and shows how it stands then.
func (p *Program) clearing(ctx context.Context, j *job, do func(peers.Standing) error) error {
	s, err := j.Peers.Find(ctx, j.args[0])
	if err != nil {
		return err
	}
	if err := do(s); err != nil {
		return err
	}
	return p.showDebt(ctx, j, s.AID)
}

func (p *Program) showDebt(ctx context.Context, j *job, aid string) error {
	list, err := p.debts(ctx, j)
	for _, v := range list {
		if err == nil && v.AID == aid {
			return p.show(v, func(w io.Writer) { headDebts(w); v.text(w) })
		}
	}
	return err
}

// debtView is a debt as --json prints it.
type debtView struct {
	AID   string `json:"aid"`
	Name  string `json:"name"` // empty where it is no peer any more
	Open  bool   `json:"open"`
	Limit uint64 `json:"limit"`
	Owed  uint64 `json:"owed"` // by it
	Due   uint64 `json:"due"`  // to it
}

func headDebts(w io.Writer) { fmt.Fprintln(w, "PEER\tOPEN\tLIMIT\tIT OWES\tWE OWE\tAID") }

func (v debtView) text(w io.Writer) {
	fmt.Fprintf(w, "%s\t%v\t%d\t%d\t%d\t%s\n", plain.Line(orDash(v.Name)), v.Open, v.Limit, v.Owed, v.Due, v.AID)
}

func (p *Program) debts(ctx context.Context, j *job) ([]debtView, error) {
	list, err := j.Credits.Debts(ctx)
	if err != nil {
		return nil, err
	}
	known, err := j.Peers.List(ctx)
	names := map[string]string{}
	for _, s := range known {
		names[s.AID] = s.Name
	}
	views := make([]debtView, len(list))
	for i, d := range list {
		views[i] = viewDebt(d, names[d.Hub])
	}
	return views, err
}

func viewDebt(d ledger.Debt, name string) debtView {
	return debtView{AID: d.Hub, Name: name, Open: d.Open, Limit: d.Most, Owed: d.Owed, Due: d.Due}
}

func (p *Program) creditDue() *cobra.Command {
	c := p.looking("due", "Show what this hub and its peers owe each other", cmdline.None, func(ctx context.Context, j *job) error {
		views, err := p.debts(ctx, j)
		if err != nil {
			return err
		}
		return p.show(map[string]any{"peers": views}, func(w io.Writer) {
			headDebts(w)
			for _, v := range views {
				v.text(w)
			}
		})
	})
	return cmdline.Example(c, "anet-hub credit due", "anet-hub credit due --json")
}

func (p *Program) creditClear() *cobra.Command {
	var agreed consent
	reference := ""
	c := p.acting("clear PEER AMOUNT", "State to a peer that so much of what this hub owes it was paid off", cmdline.Exactly("a peer's name, AID or URL", "an amount"), func(ctx context.Context, j *job) error {
		amount, err := payment.ParseAmount(j.args[1])
		if err != nil {
			return err
		}
		s, err := j.Peers.Find(ctx, j.args[0])
		if err != nil {
			return err
		}
		return p.clear(ctx, j, s, clearPlan{s.AID, amount, reference}, agreed)
	}, (*app.Config).PeerFlags)
	agreed.flags(c)
	c.Flags().StringVar(&reference, "reference", "", "what both operators know it by, such as the number of an invoice")
	c.Long = `Clear brings the peer a statement, signed by this hub, that it paid off a part of its
debt. It moves no credits: pay first, in whatever way the two operators agreed on.
Where the peer does not answer, the same command brings the same statement again,
which counts once.`
	return p.completing(cmdline.Example(c, "anet-hub credit clear NAME 250 --reference 2026-01"), peerNames)
}

func (p *Program) clear(ctx context.Context, j *job, s peers.Standing, plan clearPlan, agreed consent) error {
	if err := j.Credits.Statable(ctx, s.AID, plan.Amount, plan.Reference); err != nil {
		return err
	}
	goOn, err := p.agreed(ctx, agreed, plan, plan.text, fmt.Sprintf("State to %s that %d credits were paid?", s.Name, plan.Amount))
	if err != nil || !goOn {
		return err
	}
	if err := j.ReadPeers(ctx); err != nil {
		return err
	}
	if _, err := j.Credits.Clear(ctx, s.AID, plan.Amount, plan.Reference, j.by); err != nil {
		return err
	}
	return p.showDebt(ctx, j, s.AID)
}

// clearPlan is what a statement would say.
type clearPlan struct {
	Peer      string `json:"peer"`
	Amount    uint64 `json:"amount"`
	Reference string `json:"reference"`
}

func (c clearPlan) text(w io.Writer) {
	fmt.Fprintf(w, "peer\t%s\nstates\t%d paid\nreference\t%s\n", c.Peer, c.Amount, orDash(c.Reference))
}
