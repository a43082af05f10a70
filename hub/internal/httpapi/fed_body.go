package httpapi

import (
	"bytes"
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/wire"
)

// incomingForward is a forward whose payload lies in the body still, as it was
// written: whose it is meant to be is looked at first, and costs nothing then.
type incomingForward struct {
	wire.Forward
	raw     []byte // the JSON value
	release func()
}

// parseForward decodes everything but the payload.
func parseForward(body []byte) (incomingForward, error) {
	in := incomingForward{release: func() {}}
	begin, end, found := findMember(body, "payload")
	rest := body
	if found {
		in.raw = body[begin:end]
		rest = bytes.Join([][]byte{body[:begin], body[end:]}, []byte("null"))
	}
	// Bounded before it is read: a list of nothing takes many times its text.
	if len(rest) > sendOverhead || codec.UnmarshalObject(rest, &in.Forward) != nil {
		return in, forward.Malformed("the body is not the JSON object this route takes")
	}
	in.Payload = nil
	return in, nil
}

// payload decodes the envelope, with room for its copy on the way to the database.
// Together with the body that is less than four envelopes, so that the largest
// passes where there is room for no more. Escapes cost a copy of the text as well.
func (in *incomingForward) payload(b Budget) (payload []byte, err error) {
	room := int64(len(in.raw)) * 3 / 2
	if bytes.IndexByte(in.raw, '\\') >= 0 {
		room += int64(len(in.raw))
	}
	if in.release, err = b.Take(room); err != nil {
		in.release = func() {}
		return nil, err
	}
	text, ok := textOf(in.raw)
	payload = make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(payload, text)
	if !ok || err != nil || bytes.ContainsAny(text, "\r\n") { // which the decoder skips
		return nil, forward.Malformed("payload is no base64")
	}
	return payload[:n], nil
}

// textOf is the content of a JSON string, where it lies if it is written without
// escapes.
func textOf(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	if inside := raw[1 : len(raw)-1]; bytes.IndexByte(inside, '\\') < 0 {
		return inside, true
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return text, err == nil
}

// both is a budget within another.
type both struct{ all, part Budget }

// Take takes from both or from none.
func (b both) Take(n int64) (release func(), err error) {
	free, err := b.part.Take(n)
	if err != nil {
		return nil, err
	}
	back, err := b.all.Take(n)
	if err != nil {
		free()
		return nil, err
	}
	return func() { back(); free() }, nil
}
