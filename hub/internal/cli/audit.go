package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/plain"
)

// actView is an act as --json prints it.
type actView struct {
	ID     int64          `json:"id"`
	At     time.Time      `json:"at"`
	Who    string         `json:"who"`
	How    string         `json:"how"`
	What   string         `json:"what"`
	Target string         `json:"target"`
	Reason string         `json:"reason"`
	Detail map[string]any `json:"detail"`
}

func (p *Program) auditCommand() *cobra.Command {
	var since span
	limit := 100
	c := p.looking("audit", "List what operators did, the newest first", cmdline.None, func(ctx context.Context, j *job) error {
		if limit < 1 {
			return cmdline.WrongUse("--limit is at least 1")
		}
		q := audit.Question{Limit: limit}
		if since.d > 0 {
			q.Since = p.Now().Add(-since.d)
		}
		acts, err := j.Audit.Acts(ctx, q)
		if err != nil {
			return err
		}
		return p.showActs(acts)
	})
	c.Flags().Var(&since, "since", "only what was done since then: 7d, 12h (default: since ever)")
	c.Flags().IntVar(&limit, "limit", limit, "acts at most")
	return cmdline.Example(c, "anet-hub audit --since 7d", "anet-hub audit --json --limit 1000")
}

func (p *Program) showActs(acts []audit.Act) error {
	views := make([]actView, len(acts))
	for i, a := range acts {
		views[i] = actView{a.ID, a.At.UTC(), a.Who, a.How, a.What, a.Target, a.Why, a.Detail}
	}
	return p.show(map[string]any{"acts": views}, func(w io.Writer) {
		fmt.Fprintln(w, "WHEN\tWHO\tWHAT\tTARGET\tREASON\tHOW")
		for _, a := range views {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", when(a.At), plain.Line(a.Who), a.What, plain.Line(orDash(a.Target)),
				plain.Line(orDash(a.Reason)), plain.Line(a.How))
		}
	})
}

func when(t time.Time) string { return t.Local().Format(time.DateTime) }

// orDash fills what would be an empty cell.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
