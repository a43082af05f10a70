package cmdline

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Meaning is an exit code in the words of the help.
type Meaning struct {
	Code int
	Says string
}

// Means says what an exit code means.
func Means(code int, says string) Meaning { return Meaning{code, says} }

// Exiting adds to the help of a command what its exit codes mean where that is
// not what they mean everywhere.
func Exiting(c *cobra.Command, list ...Meaning) *cobra.Command {
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "\n  %d  %s", m.Code, m.Says)
	}
	c.Long += "\n\nExit codes:" + b.String()
	return c
}

// Example shows how a command is used.
func Example(c *cobra.Command, lines ...string) *cobra.Command {
	c.Example = "  " + strings.Join(lines, "\n  ")
	return c
}

// Examples of a group are the first ones of its commands.
func Examples(c *cobra.Command) {
	var all []string
	for _, sub := range c.Commands() {
		first, _, _ := strings.Cut(sub.Example, "\n")
		all = append(all, strings.TrimSpace(first))
	}
	Example(c, all...)
}

// Furnish completes the commands that the library adds by itself. helped are
// commands whose help is worth showing as an example.
func Furnish(root *cobra.Command, helped ...string) {
	name := root.Name()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	root.AddCommand(Example(manCommand(), name+" man /usr/local/share/man/man1"))
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			for i, h := range helped {
				helped[i] = name + " help " + h
			}
			Example(c, helped...)
		case "completion":
			for _, shell := range c.Commands() {
				Example(shell, fmt.Sprintf(loading[shell.Name()], name+" completion "+shell.Name()))
			}
			Examples(c)
		}
	}
}

// loading is how each shell takes its completions in.
var loading = map[string]string{
	"bash":       "source <(%s)",
	"zsh":        "source <(%s)",
	"fish":       "%s | source",
	"powershell": "%s | Out-String | Invoke-Expression",
}
