package hubclient

import (
	"context"
	"net/url"
	"strings"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Register lists the node (wire 2, I.3). The body comes from package listing.
func (c *Client) Register(ctx context.Context, body wire.Register) (wire.Registered, error) {
	var out wire.Registered
	err := c.call(ctx, post("/register", wire.ActionRegister, body), &out)
	if err == nil && out.AID != body.AID {
		err = errs.New(errs.BadGateway, "hub_answer_invalid", "the hub %s says that it registered %.60q, and not this node", c.base.Host, out.AID)
	}
	return out, without(body.Invite, err)
}

// without takes an invite out of what a hub said of it: failures are logged and
// shown.
func without(invite string, err error) error {
	if e := errs.As(err); e != nil && invite != "" {
		for _, said := range []*string{&e.Message, &e.Reason, &e.Field} {
			*said = strings.ReplaceAll(*said, invite, "(the invite)")
		}
	}
	return err
}

// SetProfile changes what the directory says in the operator's words.
func (c *Client) SetProfile(ctx context.Context, p wire.Profile) error {
	_, err := c.do(ctx, post("/profile", wire.ActionProfile, p))
	return err
}

// SetVisibility says how far the node's listing travels.
func (c *Client) SetVisibility(ctx context.Context, visibility string) error {
	_, err := c.do(ctx, post(c.own("visibility"), wire.ActionVisibility, wire.Visibility{Visibility: visibility}))
	return err
}

// Deregister leaves the hub. Mail that was not fetched is lost, and counted.
func (c *Client) Deregister(ctx context.Context) (wire.Deregistered, error) {
	var out wire.Deregistered
	err := c.call(ctx, post(c.own("deregister"), wire.ActionDeregister, struct{}{}), &out)
	return out, err
}

// PublishKeys gives the hub a new key set between registrations.
func (c *Client) PublishKeys(ctx context.Context, keyset []byte) (wire.KeysStored, error) {
	var out wire.KeysStored
	err := c.call(ctx, post(c.own("keys"), wire.ActionKeys, wire.Keyset{Keyset: keyset}), &out)
	return out, err
}

// Why asks what keeps lists of the hub from showing this node, at a capability
// where one is named. Only hubs like ours can tell: NotFound from others.
func (c *Client) Why(ctx context.Context, capID string) (wire.Why, error) {
	var out wire.Why
	r := get(c.own("why"), nil)
	if r.action = wire.ActionWhy; capID != "" {
		r.query = url.Values{"cap": {capID}}
	}
	err := c.call(ctx, r, &out)
	return out, err
}

// own is a route of the node's own row.
func (c *Client) own(what string) string {
	aid := ""
	if c.signer != nil {
		aid = c.signer().AID()
	}
	return "/agents/" + url.PathEscape(aid) + "/" + what
}
