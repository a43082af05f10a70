package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/anet-hub/anet/hub/internal/cursor"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/wire"
)

// noteGraph says how the pages belong together.
const noteGraph = "an edge is a review that this hub took in; an agent that edges of several pages name is a node of each of them"

// graph serves GET /graph: everybody listed, in their order, beside who rated
// whom, in the order it was said. A page has its edges' agents among its nodes,
// whether lists show them or not.
func (d *Directory) graph(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	limit, err := limitOf(q, directory.MaxPage, directory.MaxPage)
	if err != nil {
		return err
	}
	from, err := graphFrom(q.Get("cursor"))
	if err != nil {
		return err
	}
	memory := taking{from: d.api.Budget}
	defer memory.release()
	page, edges, err := d.graphPage(r.Context(), limit, from, memory.take)
	if err != nil {
		return err
	}
	more, err := encode(struct {
		Edges []wire.Edge `json:"edges"`
		Note  string      `json:"note"`
	}{edges, noteGraph})
	if err != nil {
		return err
	}
	more[0] = ','
	return writeBody(w, http.StatusOK, "application/json", joinPage("nodes", page, strings.TrimSuffix(string(more), "}\n")))
}

// graphPlace is where both lists of the graph go on: a cursor of each, nil for
// one that is at its end.
type graphPlace struct{ nodes, edges *string }

// graphFrom reads a cursor: that of the nodes, a dot, that of the edges, each
// empty at its end.
func graphFrom(written string) (p graphPlace, err error) {
	nodes, edges, both := strings.Cut(written, ".")
	if written == "" {
		return graphPlace{&nodes, &edges}, nil
	}
	if !both || nodes == "" && edges == "" {
		return p, cursor.Invalid()
	}
	if nodes != "" {
		p.nodes = &nodes
	}
	if edges != "" {
		p.edges = &edges
	}
	return p, nil
}

// graphPage reads on in both lists, and shows whoever the edges name.
func (d *Directory) graphPage(ctx context.Context, limit int, from graphPlace, reserve directory.Reserve) (page directory.Page, _ []wire.Edge, err error) {
	page.Limit = limit
	if from.nodes != nil {
		if page, err = d.Rules.List(ctx, directory.Question{}, limit, *from.nodes, reserve); err != nil {
			return page, nil, err
		}
	}
	edges, end, err := d.edges(ctx, limit, from, reserve)
	if err != nil {
		return page, nil, err
	}
	shown, err := d.Rules.Join(ctx, &page, ends(edges), reserve)
	if err != nil {
		return page, nil, err
	}
	edges, end = reviews.Between(edges, end, shown)
	page.Next = graphNext(page.Next, edges, end)
	return page, toEdges(edges), nil
}

func (d *Directory) edges(ctx context.Context, limit int, from graphPlace, reserve directory.Reserve) (list []reviews.Edge, end bool, err error) {
	if from.edges == nil {
		return nil, true, nil
	}
	if err := reserve(int64(limit) * edgeBytes); err != nil {
		return nil, false, err
	}
	return d.Reviews.Edges(ctx, limit, *from.edges)
}

// edgeBytes is what an edge takes, as it is read and shown.
const edgeBytes = 1 << 9

func ends(edges []reviews.Edge) []string {
	aids := make([]string, 0, 2*len(edges))
	for _, e := range edges {
		aids = append(aids, e.Reviewer, e.Subject)
	}
	return aids
}

func graphNext(nodes string, edges []reviews.Edge, end bool) string {
	after := ""
	if !end {
		after = edges[len(edges)-1].After()
	}
	if nodes == "" && after == "" {
		return ""
	}
	return nodes + "." + after
}

func toEdges(edges []reviews.Edge) []wire.Edge {
	out := make([]wire.Edge, len(edges))
	for i, e := range edges {
		out[i] = wire.Edge{Source: e.Reviewer, Target: e.Subject, Rating: e.Rating}
	}
	return out
}
