package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/version"
	"github.com/anet-hub/anet/shared/wire"
)

func (p *Program) serveCommand() *cobra.Command {
	cfg := app.Defaults()
	c := cmdline.Command("serve", "Serve the hub until it is told to stop", cmdline.None, func(cmd *cobra.Command, _ []string) error {
		return p.serve(cmd, &cfg)
	})
	cfg.ServeFlags(c.Flags())
	return cmdline.Example(c, "anet-hub serve --data-dir ~/hub",
		"anet-hub serve --listen 0.0.0.0:8088 --database-url-file /etc/anet-hub/database")
}

func (p *Program) serve(cmd *cobra.Command, cfg *app.Config) error {
	if err := cfg.Complete(cmd.Flags(), p.Getenv); err != nil {
		return cmdline.WrongUse("%w", err)
	}
	log, err := cfg.Logger(p.Err)
	if err != nil {
		return cmdline.WrongUse("%w", err)
	}
	a, err := app.New(cmd.Context(), *cfg, log, app.NewRegistry())
	if err != nil {
		return err
	}
	return a.Run(cmd.Context())
}

// healthCommand lets a container without a shell or curl ask after itself.
func (p *Program) healthCommand() *cobra.Command {
	url := "http://127.0.0.1:8088"
	c := cmdline.Command("healthcheck", "Ask a running hub whether it is ready; exit 1 when it is not", cmdline.None,
		func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Second)
			defer cancel()
			return ask(ctx, url+"/readyz")
		})
	c.Flags().StringVar(&url, "url", url, "address of the hub")
	return cmdline.Example(c, "anet-hub healthcheck --url http://127.0.0.1:8088")
}

func ask(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return cmdline.WrongUse("%w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the hub answers %s", resp.Status)
	}
	return nil
}

func (p *Program) versionCommand() *cobra.Command {
	c := cmdline.Command("version", "Print the version", cmdline.None, func(*cobra.Command, []string) error {
		return p.show(map[string]any{
			"version": version.Version, "commit": version.Commit, "wire": wire.Version, "schema": migrations.Latest(), "go": runtime.Version(),
		}, func(w io.Writer) { fmt.Fprintf(w, "anet-hub %s, schema %d\n", version.String(), migrations.Latest()) })
	})
	return cmdline.Example(p.printing(c), "anet-hub version", "anet-hub version --json")
}
