package app

import (
	"context"
	"time"

	"github.com/anet-hub/anet/node/internal/home"
	"github.com/anet-hub/anet/node/internal/lookup"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/version"
)

// Names of package node for those outside this tree, the stories above all.
type (
	// API is what a running node can be asked.
	API = node.API
	// Order is a delegation to make.
	Order = node.Order
	// File is an attachment.
	File = node.File
	// Task is a task as the node knows it.
	Task = node.Task
	// Query filters tasks.
	Query = node.Query
	// FindQuery is a question to the directory.
	FindQuery = node.FindQuery
	// Consent is what may be paid for a task.
	Consent = node.Consent
	// Profile is what the directory says of the node.
	Profile = node.Profile
	// Status is the truth of the moment.
	Status = node.Status
	// Provider answers calls of capabilities.
	Provider = provider.Provider
	// Call is one admitted call.
	Call = provider.Call
	// Outcome is what a call did.
	Outcome = provider.Outcome
)

// api joins what the parts of a node answer.
type api struct {
	*node.Node
	*home.Home
	node.Directory
	started time.Time
	now     func() time.Time
}

func newAPI(a *App, now func() time.Time) API {
	out := api{Node: a.node, Home: a.home, Directory: nowhere{}, started: now(), now: now}
	if a.hub != nil {
		out.Directory = lookup.Directory{Hub: a.hub, Now: now}
	}
	return out
}

// Status asks every part how it stands.
func (a api) Status(ctx context.Context) (node.Status, error) {
	s := node.Status{Version: version.String(), Started: a.started}
	a.Home.Describe(ctx, &s)
	return s, a.Node.Fill(ctx, &s)
}

// Policy and SetPolicy are the home's: the node's own Policy is what it decides
// by, not what it answers.
func (a api) Policy(ctx context.Context) (string, error) { return a.Home.Policy(ctx) }

// Limits tell what was spent of them, too.
func (a api) Limits(ctx context.Context) (node.Limits, error) {
	l, err := a.Home.Limits(ctx)
	if err != nil {
		return l, err
	}
	return l, a.Node.AddSpent(ctx, &l)
}

// Card shows what the agent itself says beyond its public card.
func (a api) Card(ctx context.Context, aid string) (node.Card, error) {
	shown, err := a.Directory.Card(ctx, aid)
	if err != nil {
		return shown, err
	}
	return a.Node.Priced(ctx, shown)
}

// nowhere is the directory of a node that joined no hub.
type nowhere struct{}

func (nowhere) Find(context.Context, node.FindQuery) (node.Found, error) {
	return node.Found{}, errNowhere()
}

func (nowhere) Card(context.Context, string) (node.Card, error) { return node.Card{}, errNowhere() }

func errNowhere() error {
	return errs.New(errs.Forbidden, "not_joined", "this node has not joined a hub; run: anet join URL")
}
