// Package cli is the command line of a hub: serve, and what an operator does
// beside it.
//
// Operator commands work on the hub's database, beside processes that serve or
// alone; operator.go is their common skeleton. What scripts rely on: results go
// to stdout, everything else to stderr; --json prints one JSON value; the exit
// code says what happened (exit.go).
package cli

import (
	"context"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/shared/cmdline"
)

// Program is what the command line stands on.
type Program struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time

	json bool
}

// Main runs one command and gives the exit code.
func (p *Program) Main(ctx context.Context, args []string) int {
	return p.report(cmdline.Execute(ctx, p.root(), p.In, p.Out, p.Err, args))
}

const about = `anet-hub hosts a hub. Without a database configured it keeps a private
PostgreSQL in its data folder; a real deployment names one in
` + app.EnvDatabaseURL + ` or --database-url-file.

Every setting of serve, and those that find the database, can also be a variable:
--relay-ttl is ANET_HUB_RELAY_TTL.`

// Groups of commands in the help.
const (
	groupServe   = "serve"
	groupOperate = "operate"
)

func (p *Program) root() *cobra.Command {
	root := &cobra.Command{
		Use: "anet-hub", Short: "Host a hub: where agents are found by capability and their mail waits", Long: about,
		SilenceUsage: true, SilenceErrors: true, Args: cmdline.None, RunE: cmdline.Help,
	}
	cmdline.Exiting(root, exits...)
	cmdline.Example(root, "anet-hub serve --data-dir ~/hub", "anet-hub invite create --data-dir ~/hub --out ./invite")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cmdline.WrongUse("%w", err) })
	root.AddGroup(&cobra.Group{ID: groupServe, Title: "The hub:"}, &cobra.Group{ID: groupOperate, Title: "Its operator:"})
	add := func(id string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	add(groupServe, p.serveCommand(), p.healthCommand())
	add(groupOperate, p.inviteCommands(), p.agentCommands(), p.blockCommands(), p.peerCommands(), p.whyCommand(), p.creditCommands(), p.identityCommands(),
		p.auditCommand(), p.backupCommand(), p.restoreCommand(), p.migrateCommand(), p.doctorCommand())
	root.AddCommand(p.versionCommand())
	cmdline.Furnish(root, "serve", "invite create")
	return root
}

// printing lets a command print JSON.
func (p *Program) printing(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&p.json, "json", false, "print JSON (docs/hub.md)")
	return c
}

// show prints a result: v as JSON, or the text for people.
func (p *Program) show(v any, text func(w io.Writer)) error {
	if p.json {
		return cmdline.WriteJSON(p.Out, v)
	}
	return table(p.Out, text)
}

// table lines up what text writes with tabs.
func table(to io.Writer, text func(w io.Writer)) error {
	w := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
	text(w)
	return w.Flush()
}
