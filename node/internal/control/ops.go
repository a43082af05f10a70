package control

import (
	"context"
	"time"

	"github.com/anet-hub/anet/node/internal/node"
)

// op is one operation: its name on the wire and what it does at the node. The
// server and the client are made of the same list.
type op[In, Out any] struct {
	name string
	do   func(node.API, context.Context, In) (Out, error)
}

// none stands for an operation without arguments, or without an answer.
type none struct{}

// in is the body of the operations that take more than one thing.
type in struct {
	ID     string      `json:"id,omitempty"`
	Text   string      `json:"text,omitempty"`
	Files  []node.File `json:"files,omitempty"`
	CID    string      `json:"cid,omitempty"`
	Seen   int64       `json:"seen,omitempty"`
	WaitMS int64       `json:"wait_ms,omitempty"`
	AID    string      `json:"aid,omitempty"`
	List   node.List   `json:"list,omitempty"`
	Policy string      `json:"policy,omitempty"`
	Name   string      `json:"name,omitempty"`
	Invite string      `json:"invite,omitempty"`

	Opinion    node.Opinion `json:"opinion,omitzero"`
	Consent    node.Consent `json:"consent,omitzero"`
	Listed     bool         `json:"listed,omitempty"`
	Limit      int          `json:"limit,omitempty"`
	Visibility string       `json:"visibility,omitempty"`
}

var (
	startTask = op[node.Order, node.Task]{"start_task", node.API.StartTask}
	list      = op[node.Query, node.Page]{"list_tasks", node.API.List}
	find      = op[node.FindQuery, node.Found]{"find", node.API.Find}
	profile   = op[node.Profile, node.Registration]{"set_profile", node.API.SetProfile}

	setLimits = op[node.LimitChange, node.Limits]{"set_limits", node.API.SetLimits}
	authorize = op[node.Bill, node.Authorization]{"authorize", node.API.Authorize}
	redeem    = op[node.Redemption, node.Redemption]{"redeem", node.API.Redeem}

	limits   = plain("limits", node.API.Limits)
	balance  = plain("balance", node.API.Balance)
	status   = plain("status", node.API.Status)
	peers    = plain("peers", node.API.Peers)
	policy   = plain("policy", node.API.Policy)
	visible  = plain("visibility", node.API.Visibility)
	leave    = plain("leave", node.API.Leave)
	identity = plain("identity", node.API.Identity)
	rotate   = plain("rotate_identity", node.API.RotateIdentity)

	getTask = of("task", node.API.Task)
	thread  = of("thread", node.API.Thread)
	cancel  = of("cancel", node.API.Cancel)

	message = op[in, node.Task]{"message", func(a node.API, ctx context.Context, i in) (node.Task, error) {
		return a.Message(ctx, i.ID, i.Text, i.Files)
	}}
	end = op[in, node.Task]{"end", func(a node.API, ctx context.Context, i in) (node.Task, error) {
		return a.End(ctx, i.ID, i.Text, i.Files)
	}}
	pay = op[in, node.Task]{"pay", func(a node.API, ctx context.Context, i in) (node.Task, error) {
		return a.Pay(ctx, i.ID, i.Consent)
	}}
	setPayee = op[in, node.Limits]{"set_payee", func(a node.API, ctx context.Context, i in) (node.Limits, error) {
		return a.SetPayee(ctx, i.AID, i.Listed)
	}}
	account = op[in, node.Account]{"account", func(a node.API, ctx context.Context, i in) (node.Account, error) {
		return a.Account(ctx, i.Limit)
	}}
	review = op[in, node.Task]{"review", func(a node.API, ctx context.Context, i in) (node.Task, error) {
		return a.Review(ctx, i.ID, i.Opinion)
	}}
	file = op[in, node.File]{"file", func(a node.API, ctx context.Context, i in) (node.File, error) {
		return a.File(ctx, i.ID, i.CID)
	}}
	wait = op[in, node.Task]{"wait", func(a node.API, ctx context.Context, i in) (node.Task, error) {
		ctx, cancel := context.WithTimeout(ctx, min(time.Duration(i.WaitMS)*time.Millisecond, maxWait))
		defer cancel()
		return a.Wait(ctx, i.ID, i.Seen)
	}}
	card = op[in, node.Card]{"card", func(a node.API, ctx context.Context, i in) (node.Card, error) {
		return a.Card(ctx, i.AID)
	}}
	setPeer = op[in, none]{"set_peer", func(a node.API, ctx context.Context, i in) (none, error) {
		return none{}, a.SetPeer(ctx, i.AID, i.List)
	}}
	removePeer = op[in, none]{"remove_peer", func(a node.API, ctx context.Context, i in) (none, error) {
		return none{}, a.RemovePeer(ctx, i.AID)
	}}
	setPolicy = op[in, none]{"set_policy", func(a node.API, ctx context.Context, i in) (none, error) {
		return none{}, a.SetPolicy(ctx, i.Policy)
	}}
	setVisible = op[in, none]{"set_visibility", func(a node.API, ctx context.Context, i in) (none, error) {
		return none{}, a.SetVisibility(ctx, i.Visibility)
	}}
	register = op[in, node.Registration]{"register", func(a node.API, ctx context.Context, i in) (node.Registration, error) {
		return a.Register(ctx, i.Name, i.Invite)
	}}
)

// plain is an operation that takes nothing.
func plain[Out any](name string, do func(node.API, context.Context) (Out, error)) op[none, Out] {
	return op[none, Out]{name, func(a node.API, ctx context.Context, _ none) (Out, error) { return do(a, ctx) }}
}

// of is an operation on one task.
func of[Out any](name string, do func(node.API, context.Context, string) (Out, error)) op[in, Out] {
	return op[in, Out]{name, func(a node.API, ctx context.Context, i in) (Out, error) { return do(a, ctx, i.ID) }}
}

// route is an op without its types, for the server's table.
type route interface {
	path() string
	serve(node.API) handler
}

var routes = []route{
	startTask, message, end, cancel, pay, review, getTask, list, thread, file, wait,
	find, card, peers, setPeer, removePeer, policy, setPolicy,
	limits, setLimits, setPayee, balance, account, authorize, redeem,
	register, leave, profile, visible, setVisible, identity, rotate, status,
}

func (o op[In, Out]) path() string { return "/v1/" + o.name }
