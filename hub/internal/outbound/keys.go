package outbound

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// maxFedKeys is a key history and a set in base64, and room around them.
const maxFedKeys = 256 << 10

// KeyAsker asks peers for keys, in this hub's name (forward.KeyCarrier).
type KeyAsker struct {
	client *Client
	key    forward.Key
	now    func() time.Time
	last   atomic.Int64
}

// NewKeyAsker makes one.
func NewKeyAsker(c *Client, key forward.Key, now func() time.Time) *KeyAsker {
	return &KeyAsker{client: c, key: key, now: now}
}

// Keys asks a peer for the keys of an agent (wire 2, J.3).
func (k *KeyAsker) Keys(ctx context.Context, p peers.Peer, aid string) (keys wire.FedKeys, err error) {
	req, err := http.NewRequest(http.MethodGet, p.Endpoint+"/fed/v2/keys/"+url.PathEscape(aid), nil)
	if err != nil {
		return keys, refusedAddress("it cannot be read").Because(err)
	}
	key := k.key.Current()
	if key == nil {
		return keys, errs.New(errs.Unavailable, "hub_identity_missing", "this hub has no identity yet")
	}
	relayauth.Sign(key, wire.ActionFedKeys, p.AID, req, nil, k.stamp())
	status, header, body, err := k.client.Do(ctx, req, maxFedKeys)
	switch {
	case err != nil:
		return keys, err
	case status != http.StatusOK:
		return keys, refusal(status, header, body, wire.LabelNotFound)
	}
	if err := codec.UnmarshalObject(body, &keys); err != nil || len(keys.Keyset) == 0 {
		return keys, noHub()
	}
	return keys, nil
}

// stamp is the time in ms, and one that this process signs nothing else in: the
// same question in the same millisecond would be the same signature, which counts
// once.
func (k *KeyAsker) stamp() uint64 {
	for {
		last := k.last.Load()
		next := max(last+1, k.now().UnixMilli())
		if k.last.CompareAndSwap(last, next) {
			return uint64(next)
		}
	}
}
