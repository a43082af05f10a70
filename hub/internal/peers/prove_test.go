package peers

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func newKey(t *testing.T) *identity.Controller {
	t.Helper()
	key, err := identity.NewController(rand.Reader, time.UnixMilli(1_700_000_000_000))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rotated(t *testing.T, key *identity.Controller) *identity.Controller {
	t.Helper()
	next, err := key.Rotate(rand.Reader, time.UnixMilli(1_700_000_100_000))
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func saying(key *identity.Controller) wire.Identity {
	return wire.Identity{AID: key.AID(), KEL: key.KEL()}
}

func TestWordsOfAStrangerAreNotRepeated(t *testing.T) {
	_, err := Prove(Peer{AID: newKey(t).AID()}, wire.Identity{AID: "root:x:0:0", KEL: []byte{1}})
	if got := words(err); strings.Contains(got, "root") || !errs.Is(err, "peer_aid_differs") {
		t.Errorf("an operator is shown %q", got)
	}
}

func TestProve(t *testing.T) {
	key, other := newKey(t), newKey(t)
	next, branch := rotated(t, key), rotated(t, key)
	broken := saying(key)
	broken.KEL = append([]byte(nil), broken.KEL...)
	broken.KEL[len(broken.KEL)/2] ^= 1
	tests := []struct {
		says   string
		pinned *identity.Controller
		shows  wire.Identity
		want   *identity.Controller
		reason string
	}{
		{"the configured AID, proven", nil, saying(key), key, ""},
		{"the configured AID with a longer history", nil, saying(next), next, ""},
		{"another AID, well proven", nil, saying(other), nil, "peer_aid_differs"},
		{"the AID with another's history", nil, wire.Identity{AID: key.AID(), KEL: other.KEL()}, nil, "peer_history_foreign"},
		{"the AID with a history that does not hold", nil, broken, nil, "peer_history_invalid"},
		{"the AID alone", nil, wire.Identity{AID: key.AID()}, nil, "peer_history_invalid"},
		{"no change", key, saying(key), key, ""},
		{"a rotation", key, saying(next), next, ""},
		{"less than is known", next, saying(key), nil, "peer_history_shorter"},
		{"another rotation than the one that is known", next, saying(branch), nil, "peer_history_forked"},
	}
	for _, tt := range tests {
		p := Peer{AID: key.AID()}
		if tt.pinned != nil {
			p.KEL = tt.pinned.KEL()
		}
		kel, err := Prove(p, tt.shows)
		switch {
		case tt.reason != "":
			if !errs.Is(err, tt.reason) || kel != nil {
				t.Errorf("%s: %v, want %s", tt.says, err, tt.reason)
			}
		case err != nil || string(kel) != string(tt.want.KEL()):
			t.Errorf("%s: another history is pinned, %v", tt.says, err)
		}
	}
}
