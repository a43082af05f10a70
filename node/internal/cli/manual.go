package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// meaning is an exit code in the words of the help.
type meaning struct {
	code int
	says string
}

// exits are the codes of all commands, for the help of the program.
var exits = []meaning{
	{exitDone, "the command did its work, the effect happened"},
	{exitError, "error"},
	{exitUse, "wrong use"},
	{exitDifference, "status: the hub lists something else; doctor: a finding"},
	{exitRefused, "refused or unavailable: by the provider, by the hub, or no node runs here"},
	{exitFailed, "the call failed: it did not happen"},
	{exitUnverified, "unverified: it may have happened; card: not proven"},
	{exitPayment, "to be paid"},
	{exitWaiting, "still waiting when --wait ended"},
}

// ends are the codes of a task that was waited for.
var ends = []meaning{
	{exitDone, "with --wait: the effect happened, the text was answered"},
	{exitRefused, "refused, unavailable or withdrawn"},
	{exitFailed, "it did not happen"},
	{exitUnverified, "it may have happened; check before asking again"},
	{exitPayment, "to be paid"},
	{exitWaiting, "still waiting when --wait ended"},
}

// exiting adds to the help of a command what its exit codes mean where that is
// not what they mean everywhere.
func exiting(c *cobra.Command, list ...meaning) *cobra.Command {
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	c.Long += "\n\nExit codes:" + codes(list)
	return c
}

func codes(list []meaning) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "\n  %d  %s", m.code, m.says)
	}
	return b.String()
}

// example shows how a command is used.
func example(c *cobra.Command, lines ...string) *cobra.Command {
	c.Example = "  " + strings.Join(lines, "\n  ")
	return c
}

// examples of a group are the first ones of its commands.
func examples(c *cobra.Command) {
	var all []string
	for _, sub := range c.Commands() {
		first, _, _ := strings.Cut(sub.Example, "\n")
		all = append(all, strings.TrimSpace(first))
	}
	example(c, all...)
}

// furnished are the commands that the library adds by itself.
func furnished(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			example(c, "anet help delegate", "anet help task get")
		case "completion":
			for _, shell := range c.Commands() {
				example(shell, loading[shell.Name()])
			}
			examples(c)
		}
	}
}

// loading is how each shell takes its completions in.
var loading = map[string]string{
	"bash":       "source <(anet completion bash)",
	"zsh":        "source <(anet completion zsh)",
	"fish":       "anet completion fish | source",
	"powershell": "anet completion powershell | Out-String | Invoke-Expression",
}
