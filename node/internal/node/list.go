package node

import (
	"context"
	"strconv"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/task"
)

// The page sizes of List.
const (
	defaultPage = 50
	maxPage     = 500
)

// List pages through tasks, the latest change first.
func (n *Node) List(ctx context.Context, q Query) (Page, error) {
	f, err := filter(q)
	if err != nil {
		return Page{}, err
	}
	page := Page{Tasks: []Task{}, Limit: f.Limit}
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		tasks, err := tx.Tasks(f)
		for _, k := range tasks {
			t, err := n.view(tx, k)
			if err != nil {
				return err
			}
			page.Tasks = append(page.Tasks, t)
		}
		if len(tasks) == f.Limit {
			page.NextCursor = strconv.FormatInt(tasks[len(tasks)-1].Version, 10)
		}
		return err
	})
	return page, err
}

func filter(q Query) (journal.Filter, error) {
	f := journal.Filter{
		Role: journal.Role(q.Role), State: task.State(q.State), Peer: q.Peer,
		ContextID: q.ContextID, Ended: q.Ended, Text: q.Text, Limit: q.Limit,
	}
	if f.Limit == 0 {
		f.Limit = defaultPage
	}
	if f.Limit < 1 {
		return f, invalid("limit_invalid", "limit", "a limit is a whole number from 1 to %d", maxPage)
	}
	f.Limit = min(f.Limit, maxPage)
	if q.Cursor == "" {
		return f, nil
	}
	before, err := strconv.ParseInt(q.Cursor, 10, 64)
	if err != nil || before < 1 {
		return f, invalid("cursor_invalid", "cursor", "%.40q is no cursor of this list; begin again without one", q.Cursor)
	}
	f.Before = before
	return f, nil
}
