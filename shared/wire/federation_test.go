package wire

import (
	"encoding/json"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestFedAnswer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		err    *errs.Error
		status int
		label  string
	}{
		{"a label of its own", errs.New(errs.NotFound, "unknown_destination", "x"), 404, LabelUnknownDestination},
		{"the label of its kind", errs.New(errs.NotFound, "keys_unknown", "x"), 404, LabelNotFound},
		{"a signature used twice", errs.New(errs.Unauthorized, "replayed", "x"), 401, LabelReplayed},
		{"too often is busy", errs.New(errs.TooMany, "forward_rate", "x"), 429, LabelBusy},
		{"no memory is busy", errs.New(errs.Unavailable, "hub_busy", "x"), 503, LabelBusy},
		{"a kind this face has not", errs.New(errs.Conflict, "x", "x"), 500, LabelInternal},
		{"none at all", errs.New(errs.Internal, "internal", "x"), 500, LabelInternal},
	} {
		if status, label := FedAnswer(tt.err); status != tt.status || label != tt.label {
			t.Errorf("%s: %d %s, want %d %s", tt.name, status, label, tt.status, tt.label)
		}
	}
}

// The payload ends the body: it is written as it goes.
func TestForwardEndsWithItsPayload(t *testing.T) {
	b, err := json.Marshal(Forward{V: ForwardVersion, Payload: []byte{1, 2, 3}})
	const want = `{"v":2,"origin_hub_aid":"","dest_aid":"","payload_cid":"","hop":0,"seen_hubs":null,"ts":0,"key_state_seq":0,"sig":null,"payload":"AQID"}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}
