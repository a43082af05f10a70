package cli

import (
	"context"
	"errors"
	"time"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/shared/errs"
)

// fetchMost bounds a fetch. What was fetched by then stays.
const fetchMost = 10 * time.Minute

// fetchFirst refuses to leave mail behind that nobody said may be lost.
func (p *Program) fetchFirst(ctx context.Context, dir datadir.Dir, old hubclient.Pin) error {
	err := p.fetch(ctx, dir, old)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return errs.New(errs.KindOf(err), "mail_not_fetched",
		"the mail that waits at %s could not be fetched: %v; try again later, or do without it: --leave-mail", old.URL, err)
}

// fetch takes the mail that waits at a hub into the node's journal. A hub that does
// not know the node has none.
func (p *Program) fetch(ctx context.Context, dir datadir.Dir, hub hubclient.Pin) (err error) {
	claim, err := control.Take(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, claim.Release()) }()
	j, err := journal.Open(ctx, dir.Path(journal.FileName), p.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, fetchMost)
	defer cancel()
	err = p.at(dir, hub, func(c *hubclient.Client) error {
		_, err := mailbox.Fetch(ctx, c, j, func(n int) { p.note("%d messages fetched from %s; the node receives them when it is up", n, hub.URL) })
		return err
	})
	if errs.Is(err, "unknown_signer") {
		return nil
	}
	return err
}
