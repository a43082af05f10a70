package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/errs"
)

func (p *Program) upCommand() *cobra.Command {
	var detach bool
	var level string
	c := command("up [flags]", "Run the node", none, func(cmd *cobra.Command, _ []string) error {
		log, err := p.logger(level)
		if err != nil {
			return err
		}
		dir, err := p.joinedFolder()
		switch {
		case err != nil:
			return err
		case detach:
			return p.upDetached(cmd.Context(), dir, level)
		}
		return p.up(cmd.Context(), dir, log)
	})
	c.Long = `Up runs the node until it is told to stop (anet down, or Ctrl-C).

With --detach the node runs in the background and writes to ` + logName + ` in its
folder; the command returns when the hub has taken the node in, or says why not.
A node whose hub cannot be reached goes on trying.`
	exiting(c, means(exitRefused, "with --detach: the hub has not taken the node in; it is up and goes on trying"))
	c.Flags().BoolVar(&detach, "detach", false, "run in the background")
	c.Flags().StringVar(&level, "log-level", "info", "debug, info, warn or error")
	return example(c, "anet up --detach", "anet up --log-level debug")
}

// logger writes to stderr: a supervisor or --detach decides where that goes.
func (p *Program) logger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, errs.New(errs.Invalid, "log_level_invalid", "--log-level is none of debug, info, warn, error")
	}
	return slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: l})), nil
}

// joinedFolder is the folder of a node that has somewhere to go.
func (p *Program) joinedFolder() (datadir.Dir, error) {
	dir, err := p.folder()
	if err != nil {
		return dir, err
	}
	_, joined, err := hubclient.LoadPin(dir)
	if err == nil && !joined {
		err = notJoined()
	}
	return dir, err
}

func (p *Program) up(ctx context.Context, dir datadir.Dir, log *slog.Logger) error {
	n, err := p.Open(ctx, dir.String(), log)
	if err != nil {
		return err
	}
	if err := n.Run(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (p *Program) downCommand() *cobra.Command {
	c := command("down", "Stop the running node", none, func(cmd *cobra.Command, _ []string) error {
		dir, err := p.folder()
		if err != nil {
			return err
		}
		stopped, err := stop(cmd.Context(), dir)
		if err != nil {
			return err
		}
		return p.show(struct {
			Stopped bool `json:"stopped"`
		}{stopped}, func(w io.Writer) {
			if stopped {
				fmt.Fprintln(w, "stopped")
			} else {
				fmt.Fprintln(w, "it was not running")
			}
		})
	})
	return example(c, "anet down")
}

// stopPatience is for a node that still has calls to finish.
const stopPatience = 30 * time.Second

// stop ends the node and waits for its end. A node that does not run is as it
// should be; one that is just starting is waited for, or it would run on.
func stop(ctx context.Context, dir datadir.Dir) (stopped bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	c := control.Dial(dir)
	defer c.Close()
	for {
		switch err := c.Stop(ctx); {
		case errs.Is(err, control.ConnectionLost): // it was about to stop already
			return true, control.Free(ctx, dir)
		case !errs.Is(err, control.NotRunning):
			return err == nil, err
		}
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := control.Free(short, dir)
		cancel()
		if err == nil || ctx.Err() != nil || !errs.Is(err, control.AlreadyRunning) {
			return false, err
		}
	}
}
