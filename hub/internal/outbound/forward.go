package outbound

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

const maxForwarded = 64 << 10

// Forward brings a message to a peer (forward.Carrier).
func (c *Client) Forward(ctx context.Context, p peers.Peer, f wire.Forward) error {
	var m moving
	req, err := m.forwardRequest(p.Endpoint, f)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout+forward.Longer(len(f.Payload)))
	defer cancel()
	ctx, end := m.watch(ctx, c.timeout, c.within(m.size))
	defer end()
	status, header, body, err := c.exchange(ctx, c.stays, req, maxForwarded)
	if err != nil {
		return m.told(ctx, err)
	}
	switch status {
	case http.StatusAccepted, http.StatusOK:
		return taken(body)
	}
	return refusal(status, header, body, wire.LabelUnknownDestination)
}

// forwardRequest writes the payload in base64 as it goes: once more in memory, a
// large one would be more than what its sender was let in with.
func (m *moving) forwardRequest(endpoint string, f wire.Forward) (*http.Request, error) {
	payload := f.Payload
	f.Payload = nil
	head, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	before := strings.TrimSuffix(string(head), "null}") + `"`
	body := func() (io.ReadCloser, error) {
		return m.from(io.MultiReader(strings.NewReader(before), &encoder{src: payload}, strings.NewReader(`"}`))), nil
	}
	req, err := http.NewRequest(http.MethodPost, endpoint+"/fed/v1/forward", nil)
	if err != nil {
		return nil, refusedAddress("it cannot be read").Because(err)
	}
	m.size = int64(len(before) + encodedLen(len(payload)) + len(`"}`))
	req.Body, _ = body()
	req.GetBody = body
	req.ContentLength = m.size
	req.Header.Set("Content-Type", "application/json")
	// A message that is brought twice is taken once, so one that met a connection
	// which the peer had closed may be sent again. An empty list is not sent.
	req.Header["Idempotency-Key"] = nil
	return req, nil
}

// taken reads the answer of a hub that has the message. What is no such answer
// comes from something else in its place, and the message would be lost with it.
func taken(body []byte) error {
	var answer wire.Forwarded
	if err := codec.UnmarshalObject(body, &answer); err != nil || answer.Status == "" {
		return noHub()
	}
	return nil
}

func noHub() error {
	return errs.New(errs.BadGateway, "peer_not_a_hub", "what answers at the peer's address is no hub")
}

// refusal reads a failure of the face between hubs. That an agent is not there is
// believed in the peer's own words only: a proxy says 404 while the hub behind it
// is exchanged, and senders would give up.
func refusal(status int, header http.Header, body []byte, unknown string) error {
	var problem wire.FedProblem
	_ = codec.UnmarshalJSON(body, &problem) // whoever sends no such body says nothing
	switch {
	case status == http.StatusNotFound && problem.Error == unknown:
		return errs.New(errs.NotFound, "peer_knows_not", "the peer does not know the agent")
	case status == http.StatusInsufficientStorage:
		return relay.MailboxFull()
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && problem.Error == wire.LabelBusy:
		// It works: to leave it alone for that would hold up everybody's mail.
		return forward.Busy(retryAfter(header))
	case status >= 500, status == http.StatusNotFound:
		return errs.New(errs.Unavailable, "peer_failed", "the peer answered with status %d", status).After(retryAfter(header))
	}
	return forward.No("the peer answered with status %d", status)
}

// retryAfter reads a number of seconds; zero where there is none.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
