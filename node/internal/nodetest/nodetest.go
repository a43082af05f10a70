// Package nodetest is a node in memory for tests of what stands in front of
// one: it keeps tasks, lists and a policy, and says no the way a node does.
package nodetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
)

// Node is the node.API of nobody. What a test wants to be answered stands in
// the exported members; they are read under no lock, so set them first.
type Node struct {
	Now        node.Status
	Agents     []node.Agent
	Cards      map[string]node.Card
	Attached   map[string]node.File // by CID
	RefuseHub  error                // what Register, Leave and SetProfile answer
	Identified node.Identity
	OnWait     func() // is called when somebody begins to wait, where it is there

	mu      sync.Mutex
	changed chan struct{}
	tasks   []node.Task
	said    map[string][]node.Message
	lists   map[string]node.List
	policy  string
	visible string
	Invites []string // those that came with Register

	Purse node.Balance
	May   node.Limits
	Moved node.Account
}

var _ node.API = (*Node)(nil)

// New is a node without tasks, closed.
func New() *Node {
	return &Node{
		changed: make(chan struct{}), said: map[string][]node.Message{},
		lists: map[string]node.List{}, policy: "closed", visible: "hub-local",
	}
}

// Put adds a task, or changes the one of its id; waits for it end.
func (n *Node) Put(t node.Task) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := n.index(t.ID); i >= 0 {
		t.Version = n.tasks[i].Version + 1
		n.tasks[i] = t
	} else {
		t.Version = 1
		n.tasks = append(n.tasks, t)
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// next is closed by the next change of a task.
func (n *Node) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

func (n *Node) index(id string) int {
	return slices.IndexFunc(n.tasks, func(t node.Task) bool { return t.ID == id })
}

func (n *Node) StartTask(_ context.Context, o node.Order) (node.Task, error) {
	if o.Provider == "" {
		return node.Task{}, errs.New(errs.Invalid, "aid_not_full", "no provider").In("provider")
	}
	n.mu.Lock()
	id := fmt.Sprintf("task-%d", len(n.tasks)+1)
	n.mu.Unlock()
	n.Put(node.Task{
		ID: id, Role: node.Requester, Peer: o.Provider, Text: o.Text, Capability: o.Capability,
		Args: o.Args, State: "submitted", Delivery: "queued", ReceiptVerified: "unknown",
	})
	for _, f := range o.Files {
		n.Attached[f.CID] = f
	}
	return n.Task(context.Background(), id)
}

func (n *Node) Task(_ context.Context, id string) (node.Task, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := n.index(id); i >= 0 {
		return n.tasks[i], nil
	}
	return node.Task{}, errs.New(errs.NotFound, "task_unknown", "there is no task %s", id)
}

func (n *Node) Wait(ctx context.Context, id string, seen int64) (node.Task, error) {
	if n.OnWait != nil {
		n.OnWait()
	}
	for {
		changed := n.next()
		t, err := n.Task(ctx, id)
		if err != nil || t.Version > seen {
			return t, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return t, nil
		}
	}
}

// say records a turn and changes the task by it.
func (n *Node) say(id, kind, text string, change func(*node.Task)) (node.Task, error) {
	t, err := n.Task(context.Background(), id)
	if err != nil {
		return t, err
	}
	if t.Ended {
		return t, errs.New(errs.Conflict, "task_ended", "the task %s has ended", id)
	}
	n.mu.Lock()
	n.said[id] = append(n.said[id], node.Message{ID: fmt.Sprint(len(n.said[id]) + 1), From: t.Role, Kind: kind, Text: text})
	n.mu.Unlock()
	change(&t)
	n.Put(t)
	return n.Task(context.Background(), id)
}

func (n *Node) Message(_ context.Context, id, text string, _ []node.File) (node.Task, error) {
	return n.say(id, "text", text, func(*node.Task) {})
}

func (n *Node) End(_ context.Context, id, text string, _ []node.File) (node.Task, error) {
	return n.say(id, "end_request", text, func(t *node.Task) { t.State, t.Ended = "completed", true })
}

func (n *Node) Cancel(_ context.Context, id string) (node.Task, error) {
	return n.say(id, "cancel", "", func(t *node.Task) { t.CancelRequested = true })
}

// Review takes any opinion, once.
func (n *Node) Review(ctx context.Context, id string, o node.Opinion) (node.Task, error) {
	t, err := n.Task(ctx, id)
	if err != nil {
		return t, err
	}
	if t.Review != nil {
		return t, errs.New(errs.Conflict, "already_reviewed", "%s was reviewed", id)
	}
	t.Review = &node.Review{Opinion: o, Published: true}
	n.Put(t)
	return n.Task(ctx, id)
}

func (n *Node) List(_ context.Context, q node.Query) (node.Page, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	page := node.Page{Tasks: []node.Task{}, Limit: 50}
	for _, t := range n.tasks {
		if (q.Role == "" || q.Role == t.Role) && (q.Ended == nil || *q.Ended == t.Ended) && (q.Peer == "" || q.Peer == t.Peer) {
			page.Tasks = append(page.Tasks, t)
		}
	}
	return page, nil
}

func (n *Node) Thread(ctx context.Context, id string) (node.Thread, error) {
	t, err := n.Task(ctx, id)
	n.mu.Lock()
	defer n.mu.Unlock()
	return node.Thread{Task: t, Messages: slices.Clone(n.said[id])}, err
}

func (n *Node) File(_ context.Context, id, cid string) (node.File, error) {
	if f, ok := n.Attached[cid]; ok {
		return f, nil
	}
	return node.File{}, errs.New(errs.NotFound, "file_unknown", "the task %s has no file %s", id, cid)
}

func (n *Node) Find(_ context.Context, q node.FindQuery) (node.Found, error) {
	if q.Text != "" && q.Cap != "" {
		return node.Found{}, errs.New(errs.Invalid, "two_questions", "ask one question")
	}
	return node.Found{Agents: n.Agents}, nil
}

func (n *Node) Card(_ context.Context, aid string) (node.Card, error) {
	if c, ok := n.Cards[aid]; ok {
		return c, nil
	}
	return node.Card{}, errs.New(errs.NotFound, "card_unknown", "%s has no card", aid)
}

func (n *Node) Peers(context.Context) (node.Peers, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	of := func(list node.List) []string {
		aids := []string{}
		for aid, l := range n.lists {
			if l == list {
				aids = append(aids, aid)
			}
		}
		slices.Sort(aids)
		return aids
	}
	return node.Peers{Allow: of(node.Allow), Trust: of(node.Trust), Deny: of(node.Deny)}, nil
}

func (n *Node) SetPeer(_ context.Context, aid string, list node.List) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lists[aid] = list
	return nil
}

func (n *Node) RemovePeer(_ context.Context, aid string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.lists[aid]; !ok {
		return errs.New(errs.NotFound, "peer_unknown", "%s is on no list", aid)
	}
	delete(n.lists, aid)
	return nil
}

func (n *Node) Policy(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.policy, nil
}

func (n *Node) SetPolicy(_ context.Context, policy string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.policy = policy
	return nil
}

func (n *Node) Register(_ context.Context, name, invite string) (node.Registration, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Invites = append(n.Invites, invite)
	if n.RefuseHub != nil {
		return node.Registration{}, n.RefuseHub
	}
	return node.Registration{AID: n.Identified.AID, Hub: n.Now.Hub, Listed: []string{}, KeysStatus: "stored", CardStatus: "none"}, nil
}

func (n *Node) Leave(context.Context) (node.Left, error) {
	return node.Left{Hub: n.Now.Hub}, n.RefuseHub
}

func (n *Node) SetProfile(ctx context.Context, _ node.Profile) (node.Registration, error) {
	return n.Register(ctx, "", "")
}

func (n *Node) Visibility(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.visible, nil
}

func (n *Node) SetVisibility(_ context.Context, visibility string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.visible = visibility
	return n.RefuseHub
}

func (n *Node) Identity(context.Context) (node.Identity, error) { return n.Identified, nil }

func (n *Node) RotateIdentity(context.Context) (node.Identity, error) {
	n.Identified.KeySeq++
	return n.Identified, nil
}

func (n *Node) Status(context.Context) (node.Status, error) { return n.Now, nil }

// Pay pays what a task asks for, within May.ExplicitMax.
func (n *Node) Pay(ctx context.Context, id string, c node.Consent) (node.Task, error) {
	t, err := n.Task(ctx, id)
	if err != nil {
		return t, err
	}
	if t.Payment == nil || t.Payment.Status != node.PayRequired {
		return t, errs.New(errs.Conflict, "no_pending_quote", "nobody asked this node to pay for %s", id)
	}
	amount, err := strconv.ParseUint(t.Payment.Amount, 10, 64)
	if err != nil || c.Max > 0 && amount > c.Max || amount > n.May.ExplicitMax {
		return t, errs.New(errs.Forbidden, "payment_over_limit", "%s credits are too many", t.Payment.Amount)
	}
	paid := *t.Payment
	paid.Status = node.PaySubmitted
	t.Payment, t.Effect, t.State = &paid, nil, "working"
	n.Put(t)
	return n.Task(ctx, id)
}

func (n *Node) Limits(context.Context) (node.Limits, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.May, nil
}

func (n *Node) SetLimits(_ context.Context, c node.LimitChange) (node.Limits, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.May.Limits = c.Of(n.May.Limits)
	return n.May, nil
}

func (n *Node) SetPayee(_ context.Context, aid string, listed bool) (node.Limits, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.May.Payees = slices.DeleteFunc(slices.Clone(n.May.Payees), func(other string) bool { return other == aid })
	if listed {
		n.May.Payees = append(n.May.Payees, aid)
	}
	return n.May, nil
}

func (n *Node) Balance(context.Context) (node.Balance, error) { return n.Purse, n.RefuseHub }

func (n *Node) Account(context.Context, int) (node.Account, error) { return n.Moved, n.RefuseHub }

func (n *Node) Authorize(context.Context, node.Bill) (node.Authorization, error) {
	return node.Authorization{}, errs.New(errs.Forbidden, "rail_not_payable", "this node keeps no money")
}

func (n *Node) Redeem(_ context.Context, r node.Redemption) (node.Redemption, error) {
	r.Transaction = "bafy-redeemed"
	return r, n.RefuseHub
}
