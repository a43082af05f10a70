package hubclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// maxCard bounds a card's answer; a card itself has at most 64 KiB (H.1).
const maxCard = 128 << 10

// Keys asks for an agent's key set and history. Both are the hub's word until
// they were verified against the AID.
func (c *Client) Keys(ctx context.Context, aid string) (wire.Keys, error) {
	var out wire.Keys
	a, err := c.lookup(ctx, "/agents/keys:lookup", agentPath(aid)+"/keys", aid)
	if err != nil {
		return out, err
	}
	return out, decode(a, "/agents/keys:lookup", &out)
}

// KEL asks for an agent's key history, likewise unverified.
func (c *Client) KEL(ctx context.Context, aid string) (wire.KEL, error) {
	var out wire.KEL
	a, err := c.lookup(ctx, "/agents/kel:lookup", agentPath(aid)+"/kel", aid)
	if err != nil {
		return out, err
	}
	return out, decode(a, "/agents/kel:lookup", &out)
}

// Card asks for the bytes of an agent's network card, likewise unverified.
func (c *Client) Card(ctx context.Context, aid string) ([]byte, error) {
	a, err := c.lookup(ctx, "/a2a/v1/agents/card:lookup", "/a2a/v1"+agentPath(aid)+"/card", aid)
	if err == nil && len(a.body) > maxCard {
		err = errs.New(errs.BadGateway, "hub_answer_too_large", "the hub's card of %s is larger than any card may be", aid)
	}
	return a.body, err
}

// SoldCard asks for the older card of an agent, in which it says what it sells at
// the gateway and where vouchers are taken; likewise unverified.
func (c *Client) SoldCard(ctx context.Context, aid string) ([]byte, error) {
	a, err := c.do(ctx, get(agentPath(aid)+"/card", nil))
	return a.body, err
}

// Agent asks for an agent's entry in the directory, with its reviews.
func (c *Client) Agent(ctx context.Context, aid string) (wire.AgentPage, error) {
	var out wire.AgentPage
	r := get(agentPath(aid), nil)
	r.limit = maxPage
	err := c.call(ctx, r, &out)
	return out, err
}

// Reputation asks what reviews say of an agent. It is the hub's word.
func (c *Client) Reputation(ctx context.Context, aid string) (wire.Reputation, error) {
	var out wire.ReputationPage
	a, err := c.lookup(ctx, "/agents/reputation:lookup", agentPath(aid)+"/reputation", aid)
	if err == nil {
		err = decode(a, "/agents/reputation:lookup", &out)
	}
	return out.Reputation, err
}

func agentPath(aid string) string { return "/agents/" + url.PathEscape(aid) }

// lookup asks by POST, so that no log of a request line names the agent, and by
// GET where a hub does not know that route (E.9).
func (c *Client) lookup(ctx context.Context, route, fallback, aid string) (answer, error) {
	a, err := c.exchange(ctx, post(route, "", wire.Lookup{AID: aid}))
	if err != nil {
		return answer{}, err
	}
	if !routeUnknown(a) {
		return c.good(a)
	}
	return c.do(ctx, get(fallback, nil))
}

// routeUnknown tells a missing route from a missing agent: only the latter
// comes with a JSON error.
func routeUnknown(a answer) bool {
	var p wire.Problem
	missing := a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed
	return missing && (codec.UnmarshalJSON(a.body, &p) != nil || p.Error == "")
}
