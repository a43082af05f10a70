package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/shared/version"
)

// errUsage marks a command line that can't be right, however often it is tried.
var errUsage = errors.New("wrong use")

func exitCode(err error) int {
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// command is the whole program.
func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "anet-hub",
		Short: "Host a hub: where agents are found by capability and their mail waits",
		Long: `anet-hub hosts a hub. Without a database configured it keeps a private
PostgreSQL in its data folder; a real deployment names one in
` + app.EnvDatabaseURL + ` or --database-url-file.

Every flag can also be set by a variable: --relay-ttl is ANET_HUB_RELAY_TTL.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	root.AddCommand(serveCommand(), identityCommand(), healthCommand(), versionCommand())
	return root
}

func serveCommand() *cobra.Command {
	cfg := app.Defaults()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the hub until it is told to stop",
		Example: `  anet-hub serve --data-dir ~/hub
  anet-hub serve --listen 0.0.0.0:8088 --database-url-file /etc/anet-hub/database`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, &cfg) },
	}
	cfg.ServeFlags(cmd.Flags())
	return cmd
}

func serve(cmd *cobra.Command, cfg *app.Config) error {
	if err := cfg.Complete(cmd.Flags(), os.Getenv); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	log, err := cfg.Logger(os.Stderr)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a, err := app.New(cmd.Context(), *cfg, log, reg)
	if err != nil {
		return err
	}
	return a.Run(cmd.Context())
}

func identityCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "identity", Short: "Show or rotate the hub's own identity"}
	cmd.AddCommand(
		identityAction("show", "Show the hub's AID and how often its key was rotated", (*app.Operator).Identity),
		identityAction("rotate", "Replace the hub's signing key; the AID stays, running processes follow", (*app.Operator).Rotate),
	)
	return cmd
}

func identityAction(name, short string, do func(*app.Operator, context.Context) (app.IdentityView, error)) *cobra.Command {
	cfg := app.Defaults()
	var asJSON bool
	cmd := &cobra.Command{
		Use: name, Short: short, Args: noArgs,
		Example: "  anet-hub identity " + name + " --data-dir ~/hub --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return asOperator(cmd, &cfg, func(op *app.Operator) error {
				v, err := do(op, cmd.Context())
				if err != nil {
					return err
				}
				return print(cmd.OutOrStdout(), asJSON, v, fmt.Sprintf("aid       %s\nkey state %d\nkel       %d bytes", v.AID, v.Seq, len(v.KEL)))
			})
		},
	}
	cfg.DatabaseFlags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, `print {"aid","seq","kel"}`)
	return cmd
}

// asOperator works on the hub's database, beside a hub that serves or alone.
func asOperator(cmd *cobra.Command, cfg *app.Config, do func(*app.Operator) error) error {
	if err := cfg.Complete(cmd.Flags(), os.Getenv); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	log, err := cfg.Logger(os.Stderr)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	op, err := app.NewOperator(cmd.Context(), *cfg, log)
	if err != nil {
		return err
	}
	return errors.Join(do(op), op.Close(cmd.Context()))
}

func print(w io.Writer, asJSON bool, v any, text string) error {
	if !asJSON {
		_, err := fmt.Fprintln(w, text)
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// healthCommand lets a container without a shell or curl ask after itself.
func healthCommand() *cobra.Command {
	url := "http://127.0.0.1:8088"
	cmd := &cobra.Command{
		Use: "healthcheck", Short: "Ask a running hub whether it is ready; exit 1 when it is not", Args: noArgs,
		Example: "  anet-hub healthcheck --url http://127.0.0.1:8088",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Second)
			defer cancel()
			return ask(ctx, url+"/readyz")
		},
	}
	cmd.Flags().StringVar(&url, "url", url, "address of the hub")
	return cmd
}

func ask(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
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

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "anet-hub", version.String())
			return err
		},
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: %s takes no arguments, got %q (see %s --help)", errUsage, cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}
