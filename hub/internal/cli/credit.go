package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/plain"
)

func (p *Program) creditCommands() *cobra.Command {
	return cmdline.Group("credit", "Grant credits, look at accounts, audit the books, clear with peers",
		p.creditGrant(), p.creditBalance(), p.creditLedger(), p.creditAudit(),
		p.creditAllow(), p.creditDisallow(), p.creditDue(), p.creditClear())
}

// accountView is an account as --json prints it.
type accountView struct {
	AID     string `json:"aid"`
	Credits uint64 `json:"credits"`
}

// creditAID makes a command of one account.
func (p *Program) creditAID(use, short string, do func(ctx context.Context, j *job, aid string) error) *cobra.Command {
	c := p.looking(use+" AID", short, cmdline.Exactly("an AID"), func(ctx context.Context, j *job) error {
		aid, err := moderation.ParseAID(j.args[0])
		if err != nil {
			return err
		}
		return do(ctx, j, aid)
	})
	return p.completing(c, agentIDs)
}

func (p *Program) creditGrant() *cobra.Command {
	var agreed consent
	c := p.acting("grant AID AMOUNT", "Issue credits to an agent; it cannot be taken back", cmdline.Exactly("an AID", "an amount"), func(ctx context.Context, j *job) error {
		aid, err := moderation.ParseAID(j.args[0])
		if err != nil {
			return err
		}
		amount, err := payment.ParseAmount(j.args[1])
		if err != nil {
			return err
		}
		plan := grantPlan{AID: aid, Amount: amount}
		goOn, err := p.agreed(ctx, agreed, plan, plan.text, fmt.Sprintf("Issue %d credits to this agent?", amount))
		if err != nil || !goOn {
			return err
		}
		balance, err := j.Credits.Grant(ctx, aid, amount, j.by)
		if err != nil {
			return err
		}
		return p.showAccount(accountView{aid, balance})
	})
	agreed.flags(c)
	c.Long = `Grant issues new credits, as one signed link of the public chain of what was ever
issued (GET /x402/issuance): the AID, the amount and the time can be seen by
everybody. The agent has to have registered here before.`
	return p.completing(cmdline.Example(c, "anet-hub credit grant AID 500 --reason 'pilot project'", "anet-hub credit grant AID 500 --dry-run"), agentIDs)
}

// grantPlan is what a grant would do.
type grantPlan struct {
	AID    string `json:"aid"`
	Amount uint64 `json:"amount"`
}

func (g grantPlan) text(w io.Writer) { fmt.Fprintf(w, "aid\t%s\nissues\t%d\n", g.AID, g.Amount) }

func (p *Program) showAccount(v accountView) error {
	return p.show(v, func(w io.Writer) { fmt.Fprintf(w, "aid\t%s\ncredits\t%d\n", v.AID, v.Credits) })
}

func (p *Program) creditBalance() *cobra.Command {
	c := p.creditAID("balance", "Show what an agent holds", func(ctx context.Context, j *job, aid string) error {
		a, _, err := j.Credits.Show(ctx, aid, 0)
		if err != nil {
			return err
		}
		return p.showAccount(accountView{aid, a.Balance})
	})
	return cmdline.Example(c, "anet-hub credit balance AID")
}

// entryView is a line of an account as --json prints it.
type entryView struct {
	N           int64     `json:"n"`
	At          time.Time `json:"at"`
	Delta       int64     `json:"delta"`
	Reason      string    `json:"reason"`
	Transaction string    `json:"transaction"`
}

// ledgerView is an account with its newest lines.
type ledgerView struct {
	accountView
	Total   int64       `json:"total"`
	Entries []entryView `json:"entries"`
}

func (p *Program) creditLedger() *cobra.Command {
	limit := ledger.DefaultPage
	c := p.creditAID("ledger", "List the newest movements of an account", func(ctx context.Context, j *job, aid string) error {
		if limit < 1 || limit > ledger.MaxPage {
			return cmdline.WrongUse("--limit is from 1 to %d", ledger.MaxPage)
		}
		a, page, err := j.Credits.Show(ctx, aid, limit)
		if err != nil {
			return err
		}
		v := ledgerView{accountView{aid, a.Balance}, a.Entries, make([]entryView, len(page))}
		for i, e := range page {
			v.Entries[i] = entryView{e.N, e.At.UTC(), e.Delta, e.Reason, e.AuthID}
		}
		return p.show(v, v.text)
	})
	c.Flags().IntVar(&limit, "limit", limit, "movements at most")
	return cmdline.Example(c, "anet-hub credit ledger AID --limit 20")
}

func (v ledgerView) text(w io.Writer) {
	fmt.Fprintln(w, "N\tWHEN\tCREDITS\tREASON\tTRANSACTION")
	for _, e := range v.Entries {
		fmt.Fprintf(w, "%d\t%s\t%+d\t%s\t%s\n", e.N, when(e.At), e.Delta, plain.Line(e.Reason), orDash(e.Transaction))
	}
	fmt.Fprintf(w, "\nbalance\t%d, after %d movements\n", v.Credits, v.Total)
}

// auditView is an audit as --json prints it.
type auditView struct {
	Balances    uint64     `json:"balances"`
	Issued      uint64     `json:"issued"`
	Retired     uint64     `json:"retired"`
	Links       uint64     `json:"links"`
	HeadSeq     uint64     `json:"head_seq"`
	HeadID      string     `json:"head_id"`
	Settlements int64      `json:"settlements"`
	ReadOnly    *time.Time `json:"read_only_since"` // null: credits move
	Reopened    bool       `json:"reopened"`
	Wrong       []string   `json:"wrong"`
}

func (p *Program) creditAudit() *cobra.Command {
	c := p.acting("audit", "Recompute every balance, the supply and the signed chain", cmdline.None, func(ctx context.Context, j *job) error {
		show := p.progress()
		defer show.end()
		r, err := j.Credits.AuditTelling(ctx, show.count)
		if err != nil {
			return err
		}
		show.end()
		v := auditView{Balances: r.Balances, Issued: r.Issued, Retired: r.Retired, Links: r.Links, HeadSeq: r.HeadSeq, HeadID: r.HeadID,
			Settlements: r.Settlements, ReadOnly: orNull(r.ReadOnly), Wrong: append([]string{}, r.Wrong...)}
		if v.ReadOnly != nil && len(v.Wrong) == 0 {
			if err := j.Credits.Reopen(ctx, j.by); err != nil {
				return err
			}
			v.Reopened = true
		}
		if err := p.show(v, v.text); err != nil || len(v.Wrong) == 0 {
			return err
		}
		return shown{errors.New("the books do not hold")}
	})
	c.Long = `Audit reads the books as they are at one moment, beside a hub that goes on: every
balance against its movements, every payment against what its payer signed and the
receipt for it, the supply against the accounts, and every link of the signed chain
against the one before. Any difference is listed, and ends the command with 1.

A restored hub moves no credits until an audit has found nothing; that audit lets
them move again.`
	cmdline.Exiting(c, cmdline.Means(exitError, "error, or the books do not hold"))
	return cmdline.Example(c, "anet-hub credit audit", "anet-hub credit audit --json --reason 'after the restore'")
}

func (v auditView) text(w io.Writer) {
	fmt.Fprintf(w, "accounts hold\t%d\nissued\t%d\nretired\t%d\nchain\t%d links\npayments\t%d\n", v.Balances, v.Issued, v.Retired, v.Links, v.Settlements)
	for _, what := range v.Wrong {
		fmt.Fprintf(w, "wrong\t%s\n", plain.Line(what))
	}
	switch {
	case len(v.Wrong) == 0 && v.Reopened:
		fmt.Fprintln(w, "audited\tthe books hold; credits move again")
	case len(v.Wrong) == 0:
		fmt.Fprintln(w, "audited\tthe books hold")
	case v.ReadOnly != nil:
		fmt.Fprintln(w, "read only\tno credits move until an audit finds nothing")
	}
}
