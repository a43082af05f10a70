package hubclient

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// maxPage bounds a page of the directory. Our hub keeps pages under 4 MiB; a
// hub without paging answers everything it has at once.
const maxPage = 32 << 20

// Query is one question to the directory: by capability expression, exactly, or
// by text. Never both.
type Query struct {
	Cap    string
	Text   string
	Limit  int // of one page, the hub's own when 0
	Cursor string
}

func (q Query) values() (url.Values, error) {
	if q.Cap != "" && q.Text != "" {
		return nil, errs.New(errs.Invalid, "two_questions", "ask by capability or by text, not both: they are different questions")
	}
	v := url.Values{}
	for name, value := range map[string]string{"cap": q.Cap, "q": q.Text, "cursor": q.Cursor} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v, nil
}

// Find asks for one page.
func (c *Client) Find(ctx context.Context, q Query) (wire.Agents, error) {
	values, err := q.values()
	if err != nil {
		return wire.Agents{}, err
	}
	var out wire.Agents
	r := get("/agents", values)
	r.limit = maxPage
	err = c.call(ctx, r, &out)
	return out, err
}

// All walks every page from the query's on, and stops at the first error.
func (c *Client) All(ctx context.Context, q Query) iter.Seq2[wire.Agent, error] {
	return func(yield func(wire.Agent, error) bool) {
		for {
			page, err := c.Find(ctx, q)
			if err == nil && page.NextCursor != "" && page.NextCursor == q.Cursor {
				err = errs.New(errs.BadGateway, "hub_answer_invalid", "the hub's pages do not move on")
			}
			if err != nil {
				yield(wire.Agent{}, err)
				return
			}
			for _, agent := range page.Agents {
				if !yield(agent, nil) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
			q.Cursor = page.NextCursor
		}
	}
}
