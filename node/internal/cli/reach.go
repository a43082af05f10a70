package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/lookup"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
)

// folder is the node's data folder, which is not made by looking at it.
func (p *Program) folder() (datadir.Dir, error) {
	path, err := p.path()
	if err != nil {
		return datadir.Dir{}, err
	}
	return datadir.At(path)
}

func (p *Program) path() (string, error) {
	if p.dataDir != "" {
		return datadir.Resolve(p.dataDir)
	}
	return datadir.Resolve(p.Getenv(datadir.EnvVar))
}

// running asks the folder's node whether it runs; nil without an error when not.
func running(ctx context.Context, dir datadir.Dir) (*control.Client, error) {
	c := control.Dial(dir)
	_, err := c.About(ctx)
	if errs.Is(err, control.NotRunning) {
		return nil, nil
	}
	return c, err
}

// ask does something that only a node at work can do.
func (p *Program) ask(do func(node.API) error) error {
	dir, err := p.folder()
	if err != nil {
		return err
	}
	c := control.Dial(dir)
	defer c.Close()
	return do(c)
}

// either asks the node that runs, and does without one that does not.
func (p *Program) either(ctx context.Context, live func(*control.Client) error, rest func(datadir.Dir) error) error {
	dir, err := p.folder()
	if err != nil {
		return err
	}
	c, err := running(ctx, dir)
	switch {
	case err != nil:
		return err
	case c == nil:
		return rest(dir)
	}
	defer c.Close()
	return live(c)
}

// manage does something that a node can do at rest, too: this process is the
// node then, for a moment.
func (p *Program) manage(ctx context.Context, do func(node.API) error) error {
	return p.either(ctx,
		func(c *control.Client) error { return do(c) },
		func(dir datadir.Dir) error { return p.be(ctx, dir, do) })
}

// be is the node of a folder for a moment.
func (p *Program) be(ctx context.Context, dir datadir.Dir, do func(node.API) error) error {
	n, err := p.Open(ctx, dir.String(), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(do(n.API()), n.Close())
}

// directory looks up at the hub this node has joined.
func (p *Program) directory(do func(lookup.Directory) error) error {
	return p.atHub(func(c *hubclient.Client, _ hubclient.Pin) error { return do(lookup.Directory{Hub: c, Now: p.Now}) })
}

// atHub asks the hub this node has joined, without a signature.
func (p *Program) atHub(do func(*hubclient.Client, hubclient.Pin) error) error {
	dir, err := p.folder()
	if err != nil {
		return err
	}
	pin, joined, err := hubclient.LoadPin(dir)
	if err != nil {
		return err
	}
	if !joined {
		return notJoined()
	}
	c, err := hubclient.New(hubclient.Options{Hub: pin})
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c, pin)
}

func notJoined() error {
	return errs.New(errs.Forbidden, "not_joined", "this node has not joined a hub; run: anet join URL")
}

// glance bounds what is only shown beside something else.
func glance(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 3*time.Second)
}
