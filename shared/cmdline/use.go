package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Execute runs one command line of a program.
func Execute(ctx context.Context, root *cobra.Command, in io.Reader, out, errOut io.Writer, args []string) (*cobra.Command, error) {
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	return cmd, interrupted(ctx, err)
}

// failure is what a command that ran came to.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Ran marks what a command that ran came to.
func Ran(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

// misuse is a command line that cannot be right.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// WrongUse is the failure of a command line that cannot be right.
func WrongUse(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// Misused reports whether the command line itself was at fault. Whatever the
// library finds before a command runs is.
func Misused(err error) bool {
	var m misuse
	var f failure
	return errors.As(err, &m) || !errors.As(err, &f)
}

// Command is one that does something. What do returns is the command's failure;
// everything found before that is wrong use.
func Command(use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return Ran(do(cmd, args)) },
	}
}

// Group is a command that only holds others.
func Group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: None, RunE: Help}
	c.AddCommand(subs...)
	Examples(c)
	return c
}

// Help shows the help of a command.
func Help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// None takes no argument. It does not repeat what was typed: that may be a
// secret in the wrong place.
func None(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return WrongUse("%s has no command %s", cmd.CommandPath(), Quoted(args[0]))
	}
	return WrongUse("%s takes no arguments", cmd.CommandPath())
}

// Exactly takes the named arguments.
func Exactly(names ...string) cobra.PositionalArgs {
	return Between(len(names), names...)
}

// Between takes at least some of the named arguments.
func Between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return WrongUse("%s is missing", names[len(args)])
		case len(args) > len(names):
			return WrongUse("%s takes %s and nothing more; what has blanks in it goes in quotes", cmd.CommandPath(), strings.Join(names, " and "))
		}
		return nil
	}
}

// Quoted is the beginning of a word that somebody typed.
func Quoted(s string) string { return fmt.Sprintf("%.40q", s) }
