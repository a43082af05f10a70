package hubclient

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/node/internal/attempt"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// request is one call of the hub.
type request struct {
	method string
	path   string // escaped
	query  url.Values
	action string        // of relayauth, "" for an unsigned call
	body   any           // JSON, nil for none
	limit  int64         // bytes of the answer, maxAnswer when 0
	wait   time.Duration // how long the hub was asked to hold the answer back
}

// maxAnswer bounds answers that hold one thing.
const maxAnswer = 1 << 20

// answer is what came back, bounded and whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends r and decodes a good answer into out.
func (c *Client) call(ctx context.Context, r request, out any) error {
	a, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	return decode(a, r.path, out)
}

func decode(a answer, path string, out any) error {
	if err := codec.UnmarshalJSON(a.body, out); err != nil {
		return errs.New(errs.BadGateway, "hub_answer_invalid", "the hub's answer to %s cannot be read", path).Because(err)
	}
	return nil
}

// do sends r; an answer other than 2xx is an error.
func (c *Client) do(ctx context.Context, r request) (answer, error) {
	a, err := c.exchange(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if a, err = c.good(a); err != nil {
		return answer{}, err
	}
	if r.action != "" {
		err = c.keepsWire(a)
	}
	return a, err
}

func (c *Client) good(a answer) (answer, error) {
	if a.status < 200 || a.status > 299 {
		return answer{}, c.failure(a)
	}
	return a, nil
}

// exchange sends r and returns whatever the hub says.
func (c *Client) exchange(ctx context.Context, r request) (answer, error) {
	req, size, err := c.build(r)
	if err != nil {
		return answer{}, err
	}
	ctx, pace := begin(ctx, size, r.wait)
	defer pace.end()
	req, watch := attempt.Watch(req.WithContext(ctx))
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.unreachable(err, watch)
	}
	defer resp.Body.Close()
	return c.read(resp, pace.of(resp.Body), max(r.limit, maxAnswer), watch)
}

func (c *Client) read(resp *http.Response, body io.Reader, limit int64, watch *attempt.Attempt) (answer, error) {
	data, err := readAll(io.LimitReader(body, limit+1), min(resp.ContentLength, limit))
	if err != nil {
		return answer{}, c.unreachable(err, watch)
	}
	if int64(len(data)) > limit {
		return answer{}, errs.New(errs.BadGateway, "hub_answer_too_large",
			"the hub's answer to %s is larger than %d bytes", resp.Request.URL.Path, limit)
	}
	return answer{resp.StatusCode, resp.Header, data}, nil
}

// readAll is io.ReadAll into room for an announced size: growing towards it, an
// answer with a large envelope would take several times its size.
func readAll(r io.Reader, announced int64) ([]byte, error) {
	var b bytes.Buffer
	if announced > 0 {
		b.Grow(int(announced) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// build makes the HTTP request and signs it.
func (c *Client) build(r request) (*http.Request, int, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, 0, fmt.Errorf("encode the request to %s: %w", r.path, err)
		}
	}
	target := c.base.String() + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequest(r.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, 0, badURL(target)
	}
	req.Header.Set("User-Agent", "anet")
	req.Header.Set(wire.HeaderVersion, fmt.Sprint(wire.Version))
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, len(body), c.sign(req, r.action, body)
}

func (c *Client) sign(req *http.Request, action string, body []byte) error {
	if action == "" {
		return nil
	}
	if c.signer == nil || c.hubAID == "" {
		return errs.New(errs.Forbidden, "not_joined", "this node has not joined a hub; run: anet join URL")
	}
	relayauth.Sign(c.signer(), action, c.hubAID, req, body, c.stamps.next(c.now()))
	return nil
}

func post(path, action string, body any) request {
	return request{method: http.MethodPost, path: path, action: action, body: body}
}

func get(path string, query url.Values) request {
	return request{method: http.MethodGet, path: path, query: query}
}
