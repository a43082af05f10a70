package control

import (
	"context"

	"github.com/anet-hub/anet/node/internal/node"
)

// The methods of node.API, each one operation of the list.

func (c *Client) StartTask(ctx context.Context, order node.Order) (node.Task, error) {
	return call(ctx, c, startTask, order)
}

func (c *Client) Message(ctx context.Context, id, text string, files []node.File) (node.Task, error) {
	return call(ctx, c, message, in{ID: id, Text: text, Files: files})
}

func (c *Client) End(ctx context.Context, id, text string, files []node.File) (node.Task, error) {
	return call(ctx, c, end, in{ID: id, Text: text, Files: files})
}

func (c *Client) Cancel(ctx context.Context, id string) (node.Task, error) {
	return call(ctx, c, cancel, in{ID: id})
}

func (c *Client) Pay(ctx context.Context, id string, consent node.Consent) (node.Task, error) {
	return call(ctx, c, pay, in{ID: id, Consent: consent})
}

func (c *Client) Limits(ctx context.Context) (node.Limits, error) {
	return call(ctx, c, limits, none{})
}

func (c *Client) SetLimits(ctx context.Context, change node.LimitChange) (node.Limits, error) {
	return call(ctx, c, setLimits, change)
}

func (c *Client) SetPayee(ctx context.Context, aid string, listed bool) (node.Limits, error) {
	return call(ctx, c, setPayee, in{AID: aid, Listed: listed})
}

func (c *Client) Balance(ctx context.Context) (node.Balance, error) {
	return call(ctx, c, balance, none{})
}

func (c *Client) Account(ctx context.Context, limit int) (node.Account, error) {
	return call(ctx, c, account, in{Limit: limit})
}

func (c *Client) Authorize(ctx context.Context, b node.Bill) (node.Authorization, error) {
	return call(ctx, c, authorize, b)
}

func (c *Client) Redeem(ctx context.Context, r node.Redemption) (node.Redemption, error) {
	return call(ctx, c, redeem, r)
}

func (c *Client) Review(ctx context.Context, id string, o node.Opinion) (node.Task, error) {
	return call(ctx, c, review, in{ID: id, Opinion: o})
}

func (c *Client) Task(ctx context.Context, id string) (node.Task, error) {
	return call(ctx, c, getTask, in{ID: id})
}

func (c *Client) List(ctx context.Context, q node.Query) (node.Page, error) {
	return call(ctx, c, list, q)
}

func (c *Client) Thread(ctx context.Context, id string) (node.Thread, error) {
	return call(ctx, c, thread, in{ID: id})
}

func (c *Client) File(ctx context.Context, id, cid string) (node.File, error) {
	return call(ctx, c, file, in{ID: id, CID: cid})
}

func (c *Client) Find(ctx context.Context, q node.FindQuery) (node.Found, error) {
	return call(ctx, c, find, q)
}

func (c *Client) Card(ctx context.Context, aid string) (node.Card, error) {
	return call(ctx, c, card, in{AID: aid})
}

func (c *Client) Peers(ctx context.Context) (node.Peers, error) { return call(ctx, c, peers, none{}) }

func (c *Client) SetPeer(ctx context.Context, aid string, l node.List) error {
	_, err := call(ctx, c, setPeer, in{AID: aid, List: l})
	return err
}

func (c *Client) RemovePeer(ctx context.Context, aid string) error {
	_, err := call(ctx, c, removePeer, in{AID: aid})
	return err
}

func (c *Client) Policy(ctx context.Context) (string, error) { return call(ctx, c, policy, none{}) }

func (c *Client) SetPolicy(ctx context.Context, p string) error {
	_, err := call(ctx, c, setPolicy, in{Policy: p})
	return err
}

func (c *Client) Register(ctx context.Context, name, invite string) (node.Registration, error) {
	return call(ctx, c, register, in{Name: name, Invite: invite})
}

func (c *Client) Leave(ctx context.Context) (node.Left, error) { return call(ctx, c, leave, none{}) }

func (c *Client) SetProfile(ctx context.Context, p node.Profile) (node.Registration, error) {
	return call(ctx, c, profile, p)
}

func (c *Client) Visibility(ctx context.Context) (string, error) {
	return call(ctx, c, visible, none{})
}

func (c *Client) SetVisibility(ctx context.Context, v string) error {
	_, err := call(ctx, c, setVisible, in{Visibility: v})
	return err
}

func (c *Client) Identity(ctx context.Context) (node.Identity, error) {
	return call(ctx, c, identity, none{})
}

func (c *Client) RotateIdentity(ctx context.Context) (node.Identity, error) {
	return call(ctx, c, rotate, none{})
}

func (c *Client) Status(ctx context.Context) (node.Status, error) {
	return call(ctx, c, status, none{})
}
