package control

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// problem is a failure on its way. The whole sentence goes along, causes
// included: the other end is the operator of this node, not a stranger.
type problem struct {
	Error        string         `json:"error"`
	Code         string         `json:"code,omitempty"`
	Field        string         `json:"field,omitempty"`
	RetryAfterMS int64          `json:"retry_after_ms,omitempty"`
	Detail       map[string]any `json:"detail,omitempty"`
}

func problemOf(err error) problem {
	p := problem{Error: err.Error()}
	if e := errs.As(err); e != nil {
		p.Code, p.Field, p.RetryAfterMS, p.Detail = e.Reason, e.Field, e.RetryAfter.Milliseconds(), e.Detail
	}
	return p
}

// failure is the error that problemOf wrote.
func failure(status int, body []byte) error {
	var p problem
	if json.NewDecoder(bytes.NewReader(body)).Decode(&p) != nil || p.Error == "" {
		p.Error = "the node answered " + http.StatusText(status)
	}
	e := errs.New(wire.KindOf(status), p.Code, "%s", p.Error).After(time.Duration(p.RetryAfterMS) * time.Millisecond)
	e.Field, e.Detail = p.Field, p.Detail
	return e
}
