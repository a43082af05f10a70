package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/node"
)

func (p *Program) registerCommand() *cobra.Command {
	var name string
	var inv invite
	c := command("hub-register [flags]", "Register at the hub again, now", none, func(cmd *cobra.Command, _ []string) error {
		token, err := inv.read(cmd.Context(), p.Getenv)
		if err != nil {
			return err
		}
		if _, err := p.joinedFolder(); err != nil {
			return err
		}
		return p.manage(cmd.Context(), func(api node.API) error {
			r, err := api.Register(cmd.Context(), name, token)
			if err != nil {
				return err
			}
			return p.show(r, func(w io.Writer) { printRegistration(w, r) })
		})
	})
	c.Long = `Hub-register lists the node now. A running node does so by itself at its start and
whenever what it offers changes; this is for a new name, or to see what the hub
says to it.`
	c.Flags().StringVar(&name, "name", "", "how others see this node from now on")
	inv.flags(c.Flags())
	return example(c, "anet hub-register", "anet hub-register --name new-name --json")
}

func (p *Program) leaveCommand() *cobra.Command {
	c := command("hub-leave", "Leave the hub; mail that waits there is lost", none, func(cmd *cobra.Command, _ []string) error {
		if _, err := p.joinedFolder(); err != nil {
			return err
		}
		return p.manage(cmd.Context(), func(api node.API) error {
			left, err := api.Leave(cmd.Context())
			if err != nil {
				return err
			}
			return p.show(left, func(w io.Writer) {
				fmt.Fprintf(w, "left\t%s\nlost\t%d messages\n", line(left.Hub), left.Undelivered)
				if left.Warning != "" {
					fmt.Fprintf(w, "the hub says\t%s\n", line(left.Warning))
				}
			})
		})
	})
	return example(c, "anet hub-leave")
}
