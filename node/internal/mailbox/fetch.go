package mailbox

import (
	"context"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Fetch takes all mail that waits at a hub into the journal, unread, for a node that
// is about to leave: what is acknowledged there is on disk here. told gets the number
// after each page.
func Fetch(ctx context.Context, hub Hub, j *journal.Journal, told func(n int)) (n int, err error) {
	for last := int64(0); ; {
		got, err := hub.Poll(ctx, wire.Poll{Limit: pageSize, AfterID: last})
		if err != nil || len(got.Messages) == 0 {
			return n, err
		}
		next := highest(got.Messages)
		if next <= last {
			return n, errs.New(errs.BadGateway, "hub_answer_invalid", "the hub's mail goes round in circles")
		}
		if err := carry(ctx, hub, j, got.Messages); err != nil {
			return n, err
		}
		last, n = next, n+len(got.Messages)
		told(n)
	}
}

func carry(ctx context.Context, hub Hub, j *journal.Journal, page []wire.Message) error {
	ids := make([]int64, len(page))
	err := j.Write(ctx, func(tx *journal.Tx) error {
		for i, m := range page {
			ids[i] = m.ID
			if err := tx.Carry(m.Envelope); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return hub.Ack(ctx, ids)
}

// carrying is a hub with the mail before its own that was fetched from another. It
// numbers what is carried from one, and its own behind that.
type carrying struct {
	Hub
	journal *journal.Journal
	own     int64 // ids of its own are larger; set by the first poll
	known   bool
}

// Carrying makes one. Its polls come from one goroutine.
func Carrying(hub Hub, j *journal.Journal) Hub { return &carrying{Hub: hub, journal: j} }

// Poll gives what is carried one by one: a page of it could be as large as all of it.
func (c *carrying) Poll(ctx context.Context, p wire.Poll) (wire.Polled, error) {
	next, found, err := c.next(ctx, p.AfterID)
	switch {
	case err != nil:
		return wire.Polled{}, err
	case found:
		return wire.Polled{Messages: []wire.Message{{ID: next.ID, Envelope: next.Envelope}}, WaitMS: p.WaitMS}, nil
	}
	p.AfterID = max(0, p.AfterID-c.own)
	got, err := c.Hub.Poll(ctx, p)
	for i := range got.Messages {
		got.Messages[i].ID += c.own
	}
	return got, err
}

func (c *carrying) next(ctx context.Context, after int64) (next journal.Carried, found bool, err error) {
	if c.known && after >= c.own {
		return next, false, nil
	}
	err = c.journal.Read(ctx, func(tx *journal.Tx) (err error) {
		if !c.known {
			if c.own, err = tx.LastCarried(); err != nil {
				return err
			}
		}
		next, found, err = tx.CarriedAfter(after)
		return err
	})
	c.known = c.known || err == nil
	return next, found, err
}

// Ack tells each where it lies. The mailbox polls first, so own is known.
func (c *carrying) Ack(ctx context.Context, ids []int64) error {
	var theirs, here []int64
	for _, id := range ids {
		if id > c.own {
			theirs = append(theirs, id-c.own)
		} else {
			here = append(here, id)
		}
	}
	if len(here) > 0 {
		if err := c.journal.Write(ctx, func(tx *journal.Tx) error { return drop(tx, here) }); err != nil {
			return err
		}
	}
	if len(theirs) == 0 {
		return nil
	}
	return c.Hub.Ack(ctx, theirs)
}

func drop(tx *journal.Tx, ids []int64) error {
	for _, id := range ids {
		if err := tx.DropCarried(id); err != nil {
			return err
		}
	}
	return nil
}
