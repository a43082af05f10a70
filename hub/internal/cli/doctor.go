package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/certs"
	"github.com/anet-hub/anet/hub/internal/doctor"
	"github.com/anet-hub/anet/shared/checkup"
	"github.com/anet-hub/anet/shared/cmdline"
)

// patient says which hub to look at, and how.
type patient struct {
	domain, url, caFile string
	slow                bool
}

// here is where a hub serves unless it is told otherwise.
const here = "http://127.0.0.1:8088"

func (p *Program) doctorCommand() *cobra.Command {
	var who patient
	c, _ := p.operating(nil, "doctor", "Look at a hub from the outside in, and say what is wrong", cmdline.None, func(ctx context.Context, j *job) error {
		look, err := who.look(p.Getenv)
		if err != nil {
			return err
		}
		show := p.progress()
		defer show.end()
		look.Now, look.Tell = p.Now, func(check string) { show.at("looking at: "+check, 0, 0) }
		look.Inside = app.Look(ctx, j.cfg, j.log)
		if look.Net, err = j.cfg.Outbound(); err != nil {
			return cmdline.WrongUse("%w", err)
		}
		results := look.Examine(ctx)
		show.end()
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.diagnose(look.URL, results)
	}, (*app.Config).PeerFlags)
	c.Flags().StringVar(&who.domain, "domain", "", "the hub's name: looks at https://NAME")
	c.Flags().StringVar(&who.url, "url", "", "the hub's address, where it is no https://NAME (default: "+app.EnvPublicURL+", else "+here+")")
	c.Flags().StringVar(&who.caFile, "ca-file", "", "file with root certificates (PEM) to trust, beside the system's")
	c.Flags().BoolVar(&who.slow, "slow", false, "wait as long as a poll does, which takes a minute")
	c.Long = `Doctor looks at a hub the way a node comes: name, certificate, what stands before
it, what arrives of a request; then at its database, backups and disk, and at each
of its peers. It changes nothing, and may be run beside a hub that serves. Where it
can reach the hub's database it asks with the hub's own key; elsewhere some checks
are skipped.`
	cmdline.Exiting(c, cmdline.Means(exitNo, "it found something; what to do stands beside it"))
	return cmdline.Example(c, "anet-hub doctor --domain hub.example.org", "anet-hub doctor --domain hub.example.org --slow --json")
}

// look is what the flags ask for.
func (w *patient) look(getenv func(string) string) (c doctor.Case, err error) {
	raw := w.url
	switch {
	case w.domain != "" && w.url != "":
		return c, cmdline.WrongUse("--domain and --url name the same thing: give one")
	case w.domain != "":
		raw = "https://" + w.domain
	case raw == "":
		raw = getenv(app.EnvPublicURL)
	}
	if raw == "" {
		raw = here
	}
	c.Slow = w.slow
	c.URL, err = url.Parse(raw)
	if err != nil || c.URL.Scheme != "https" && c.URL.Scheme != "http" || c.URL.Hostname() == "" || strings.Contains(w.domain, "/") {
		return c, cmdline.WrongUse("a hub's address looks like https://hub.example.org, and its --domain like hub.example.org")
	}
	if c.Roots, err = certs.Roots(w.caFile); err != nil {
		return c, cmdline.WrongUse("--ca-file: %w", err)
	}
	return c, nil
}

func (p *Program) diagnose(of *url.URL, results checkup.Results) error {
	n := results.Findings()
	err := p.show(map[string]any{"url": of.String(), "healthy": n == 0, "checks": results}, results.Write)
	if err == nil && n > 0 {
		err = answer{fmt.Errorf("%d of %d checks found something", n, len(results))}
	}
	return err
}
