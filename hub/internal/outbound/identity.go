package outbound

import (
	"context"
	"net/http"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// maxIdentity is a whole key history in base64, and room around it.
const maxIdentity = 128 << 10

// Identity asks a hub who it is (wire 2, J.1). Nothing of the answer is proven.
func (c *Client) Identity(ctx context.Context, endpoint string) (id wire.Identity, err error) {
	status, body, err := c.Get(ctx, endpoint+"/hub/identity", maxIdentity)
	if err != nil {
		return id, err
	}
	if status != http.StatusOK {
		return id, errs.New(errs.BadGateway, "peer_refused", "asked who it is, the peer answered with status %d", status)
	}
	if err := codec.UnmarshalJSON(body, &id); err != nil || id.AID == "" || len(id.KEL) == 0 {
		return id, errs.New(errs.BadGateway, "peer_not_a_hub", "what answers there is no hub: it does not say who it is")
	}
	return id, nil
}
