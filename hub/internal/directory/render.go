package directory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// Rendered is the agent as lists show it, made once when the row is written.
// The readme is left out: a page of a thousand would weigh 16 MB.
func (a Agent) Rendered() ([]byte, error) {
	v := a.View()
	v.Readme = ""
	return render(v)
}

func render(v wire.Agent) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("render agent %s: %w", v.AID, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// appendLive writes a rendered view, completed with what changes while nobody
// writes it. The members are the last of wire.Agent, so the result is what
// encoding the whole would give.
func appendLive(out, rendered []byte, l Life, h Horizon) []byte {
	out = append(out, rendered[:len(rendered)-1]...)
	if !l.LastSeen.IsZero() {
		out = append(out, `,"last_seen":"`...)
		out = l.LastSeen.UTC().AppendFormat(out, time.RFC3339Nano)
		out = append(out, '"')
	}
	if l.Quiet(h) {
		out = append(out, `,"quiet":true`...)
	}
	return append(out, '}')
}

// liveRoom is what appendLive adds at most.
const liveRoom = len(`,"last_seen":"","quiet":true}`) + len(time.RFC3339Nano)
