// Package cli is the command line of a node. Commands that need the node at
// work ask it over the control socket; the others do without it.
//
// What scripts rely on: results go to stdout, everything else to stderr; --json
// prints one JSON value; the exit code says what happened (exit.go).
package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
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
	root := p.root()
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return p.report(cmd, err)
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
)

func (p *Program) root() *cobra.Command {
	root := &cobra.Command{
		Use: "anet", Short: "A node: offer what you can do, find and call what others can", Long: about,
		SilenceUsage: true, SilenceErrors: true, Args: none, RunE: help,
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
	)
	add := func(id string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	add(groupNode, p.initCommand(), p.joinCommand(), p.upCommand(), p.downCommand(), p.statusCommand(), p.doctorCommand(),
		p.profileCommand(), p.identityCommand(), p.registerCommand(), p.leaveCommand())
	add(groupOthers, p.findCommand(), p.cardCommand())
	add(groupTasks, p.delegateCommand(), p.taskCommand(), p.resultsCommand(), p.inboxCommand(), p.threadCommand(),
		p.messageCommand(), p.endCommand(), p.cancelCommand())
	add(groupAccess, p.peersCommand(), p.inboundCommand())
	root.AddCommand(p.versionCommand())
	furnished(root)
	return root
}

// command is one that does something. What do returns is the command's failure;
// everything cobra finds before that is wrong use.
func command(use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return ran(do(cmd, args)) },
	}
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: none, RunE: help}
	c.AddCommand(subs...)
	examples(c)
	return c
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// none takes no argument. It does not repeat what was typed: that may be a
// secret in the wrong place.
func none(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return wrongUse("%s has no command %s", cmd.CommandPath(), quoted(args[0]))
	}
	return wrongUse("%s takes no arguments", cmd.CommandPath())
}

// exactly takes the named arguments.
func exactly(names ...string) cobra.PositionalArgs {
	return between(len(names), names...)
}

// between takes at least some of the named arguments.
func between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return wrongUse("%s is missing", names[len(args)])
		case len(args) > len(names):
			return wrongUse("%s takes %s and nothing more; what has blanks in it goes in quotes", cmd.CommandPath(), strings.Join(names, " and "))
		}
		return nil
	}
}

func quoted(s string) string { return fmt.Sprintf("%.40q", s) }
