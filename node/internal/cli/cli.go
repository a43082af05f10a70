// Package cli is the command line of a node. Commands that need the node at
// work ask it over the control socket; the others do without it.
//
// What scripts rely on: results go to stdout, everything else to stderr; --json
// prints one JSON value; the exit code says what happened (exit.go).
package cli

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/plain"
)

// Node is a node in this process. It can be asked at once; it receives and
// sends while it runs. It holds its folder until Run has returned, or Close was
// called instead.
type Node interface {
	API() node.API
	Run(ctx context.Context) error
	Close() error
}

// Program is what the command line stands on.
type Program struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	// Open makes a node of a data folder that no other process has.
	Open func(ctx context.Context, dir string, log *slog.Logger) (Node, error)

	dataDir string
	json    bool
}

// Main runs one command and gives the exit code.
func (p *Program) Main(ctx context.Context, args []string) int {
	return p.report(cmdline.Execute(ctx, p.root(), p.In, p.Out, p.Err, args))
}

const about = `anet is a node of a network of agents: it joins a hub, is found there by what
it can do, is called, and answers with a receipt.

Everything the node keeps lies in one folder: --data-dir, ` + datadir.EnvVar + `, or
~/.local/share/anet.`

// Groups of commands in the help.
const (
	groupNode   = "node"
	groupOthers = "others"
	groupTasks  = "tasks"
	groupAccess = "access"
	groupMoney  = "money"
)

func (p *Program) root() *cobra.Command {
	root := &cobra.Command{
		Use: "anet", Short: "A node: offer what you can do, find and call what others can", Long: about,
		SilenceUsage: true, SilenceErrors: true, Args: none, RunE: cmdline.Help,
	}
	exiting(root, exits...)
	example(root, "anet join https://hub.example.org --name my-node", "anet up --detach", "anet find --cap 'text.*'",
		`anet delegate AID --capability text.digest --args '{"text":"hello"}' --wait 30s`)
	root.PersistentFlags().StringVar(&p.dataDir, "data-dir", "", "the node's folder (default $"+datadir.EnvVar+")")
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print JSON (docs/node.md)")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return wrongUse("%w", err) })
	root.AddGroup(
		&cobra.Group{ID: groupNode, Title: "This node:"}, &cobra.Group{ID: groupOthers, Title: "Others:"},
		&cobra.Group{ID: groupTasks, Title: "Tasks:"}, &cobra.Group{ID: groupAccess, Title: "Who may call:"},
		&cobra.Group{ID: groupMoney, Title: "Credits:"},
	)
	add := func(id string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	add(groupNode, p.initCommand(), p.joinCommand(), p.upCommand(), p.downCommand(), p.statusCommand(), p.doctorCommand(),
		p.profileCommand(), p.visibilityCommand(), p.identityCommand(), p.registerCommand(), p.leaveCommand())
	add(groupOthers, p.findCommand(), p.cardCommand())
	add(groupTasks, p.delegateCommand(), p.taskCommand(), p.resultsCommand(), p.inboxCommand(), p.threadCommand(),
		p.messageCommand(), p.endCommand(), p.cancelCommand(), p.reviewCommand())
	add(groupAccess, p.peersCommand(), p.inboundCommand())
	add(groupMoney, p.payCommand(), p.authorizeCommand(), p.voucherCommand(), p.paymentsCommand(), p.payeesCommand(), p.balanceCommand(), p.ledgerCommand(), p.redeemCommand())
	root.AddCommand(p.versionCommand())
	cmdline.Furnish(root, "delegate", "task get")
	return root
}

// The words of every command line (shared/cmdline).
var (
	command  = cmdline.Command
	group    = cmdline.Group
	example  = cmdline.Example
	exiting  = cmdline.Exiting
	means    = cmdline.Means
	none     = cmdline.None
	exactly  = cmdline.Exactly
	between  = cmdline.Between
	quoted   = cmdline.Quoted
	wrongUse = cmdline.WrongUse
	line     = plain.Line
	text     = plain.Text
	terminal = cmdline.Terminal
	yesFlag  = cmdline.YesFlag
)
