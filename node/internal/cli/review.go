package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/node"
)

func (p *Program) reviewCommand() *cobra.Command {
	var o node.Opinion
	c := command("review TASK --rating N [--comment TEXT]", "Say in public what you think of work you asked for", exactly("a task id"),
		func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("rating") {
				return wrongUse("say what it was worth: --rating 1 (bad) to 5 (very good)")
			}
			return p.ask(func(api node.API) error {
				t, err := api.Review(cmd.Context(), args[0], o)
				if err != nil {
					return err
				}
				return p.show(t, func(w io.Writer) { fmt.Fprintf(w, "reviewed\t%s\n", reviewed(*t.Review)) })
			})
		})
	c.Long = `Review publishes a rating of a task that this node asked for, with the provider's
receipt as the proof that there was one: who the two are, when it was done and what
it was worth becomes public, what was asked and answered does not. Lists show the
better rated first.

A task is reviewed once, and a review cannot be changed or taken back.`
	c.Flags().IntVar(&o.Rating, "rating", 0, "1 (bad) to 5 (very good)")
	c.Flags().StringVar(&o.Comment, "comment", "", "a word to everybody, 280 characters at most")
	c.ValidArgsFunction = p.completeTasks(node.Results())
	exiting(c, means(exitUnverified, "the hub may have it: run the same command again"))
	return example(c, "anet review TASK --rating 5", `anet review TASK --rating 2 --comment "Slow, and half of it was missing."`)
}

// reviewed is a review on one line.
func reviewed(r node.Review) string {
	s := fmt.Sprintf("%d of 5", r.Rating)
	if r.Comment != "" {
		s += ": " + line(r.Comment)
	}
	if !r.Published {
		s += " (the hub may not have it: run anet review again)"
	}
	return s
}
