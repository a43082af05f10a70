package httpapi

import (
	"net/http"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// probe serves POST /hub/probe: what arrived of a request that came the way of
// all others. Only the hub's own key opens it, which its operator has: it tells
// what stands before the hub, holds a body as large as any, and waits as long as
// the longest poll. Nothing is changed by it, so a signature need not be single.
func (a *API) probe(w http.ResponseWriter, r *http.Request) error {
	body, release, err := a.readProbe(w, r)
	if err != nil {
		return err
	}
	n := int64(len(body))
	release()
	if r.URL.Query().Has("wait") {
		select {
		case <-time.After(wire.MaxWait):
		case <-a.closing:
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
	peer := peerAddr(r)
	return writeJSON(w, http.StatusOK, wire.Probed{
		Client: a.clientBucket(r), Peer: bucketOf(peer), PeerTrusted: !peer.IsValid() || a.Proxies.trusts(peer),
		ProxyHeader: a.Proxies.name(), Bytes: n, HubTimeMS: a.Now().UnixMilli(),
	})
}

func (a *API) readProbe(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	claim, err := parseClaim(r)
	if err != nil {
		return nil, nil, err
	}
	key := a.Key.Current()
	switch {
	case key == nil:
		return nil, nil, errNoIdentity()
	case claim.AID != key.AID():
		return nil, nil, errs.New(errs.Unauthorized, "not_the_owner", "this is for the hub's own key")
	}
	body, release, err = a.readBody(w, r, max(a.limits.Bodies.Send, maxSignedBody))
	if err != nil {
		return nil, nil, err
	}
	req, err := a.request(r, claim, wire.ActionProbe, body)
	if err == nil {
		err = a.verify(req, key.KEL())
	}
	if err != nil {
		release()
	}
	return body, release, err
}
