package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/node"
)

func (p *Program) profileCommand() *cobra.Command {
	return group("profile", "What the directory says of this node", p.profileShowCommand(), p.profileSetCommand())
}

func (p *Program) profileShowCommand() *cobra.Command {
	c := command("show", "Show the node's own words", none, func(*cobra.Command, []string) error {
		now, err := p.profile()
		if err != nil {
			return err
		}
		return p.show(now, func(w io.Writer) {
			fmt.Fprintf(w, "summary\t%s\npricing\t%s\nreadme\n%s\n", line(now.Summary), line(now.Pricing), text(now.Readme))
		})
	})
	return example(c, "anet profile show --json")
}

func (p *Program) profileSetCommand() *cobra.Command {
	var summary, pricing, readme string
	c := command("set [flags]", "Change the node's own words, and tell the hub", none, func(cmd *cobra.Command, _ []string) error {
		given := cmd.Flags().Changed
		if !given("summary") && !given("pricing") && !given("readme-file") {
			return wrongUse("say what to set: --summary, --pricing or --readme-file")
		}
		next, err := p.profile()
		if err != nil {
			return err
		}
		if given("summary") {
			next.Summary = summary
		}
		if given("pricing") {
			next.Pricing = pricing
		}
		if given("readme-file") {
			b, err := readSmall(cmd.Context(), readme, config.MaxReadme)
			if err != nil {
				return fmt.Errorf("read the readme: %w", err)
			}
			next.Readme = string(b)
		}
		return p.setProfile(cmd.Context(), next)
	})
	c.Flags().StringVar(&summary, "summary", "", "one sentence; also the description on the card")
	c.Flags().StringVar(&pricing, "pricing", "", "what it costs, in words")
	c.Flags().StringVar(&readme, "readme-file", "", "file with a longer text")
	return example(c, `anet profile set --summary "Translates German"`, "anet profile set --readme-file about.md")
}

func (p *Program) profile() (node.Profile, error) {
	dir, err := p.folder()
	if err != nil {
		return node.Profile{}, err
	}
	conf, err := config.Load(dir)
	if err != nil {
		return node.Profile{}, err
	}
	return node.Profile(conf.Profile), nil
}

// setProfile only writes the words down where no hub is to be told.
func (p *Program) setProfile(ctx context.Context, next node.Profile) error {
	dir, err := p.folder()
	if err != nil {
		return err
	}
	_, joined, err := hubclient.LoadPin(dir)
	if err != nil {
		return err
	}
	if !joined {
		return p.keepProfile(dir, next)
	}
	return p.manage(ctx, func(api node.API) error {
		r, err := api.SetProfile(ctx, next)
		if err != nil {
			return err
		}
		return p.show(r, func(w io.Writer) { printRegistration(w, r) })
	})
}

func (p *Program) keepProfile(dir datadir.Dir, next node.Profile) error {
	err := config.Update(dir, config.SetSummary(next.Summary), config.SetReadme(next.Readme), config.SetPricing(next.Pricing))
	if err != nil {
		return err
	}
	return p.show(next, func(w io.Writer) { fmt.Fprintln(w, "written down; no hub has been joined yet") })
}
