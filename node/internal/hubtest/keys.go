package hubtest

import (
	"context"

	"github.com/anet-hub/anet/shared/errs"
)

// keys is what a node registered with.
type keys struct{ kel, keyset []byte }

// Register opens a mailbox and stores the keys others look up.
func (h *Hub) Register(aid string, kel, keyset []byte) {
	h.Open(aid)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys[aid] = keys{kel, keyset}
}

// Keys answers as POST /agents/keys:lookup does.
func (l *Line) Keys(_ context.Context, aid string) (kel, keyset []byte, err error) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if err := l.enter("keys"); err != nil {
		return nil, nil, err
	}
	k, found := l.hub.keys[aid]
	if !found {
		return nil, nil, errs.New(errs.NotFound, "keys_unknown", "no keys of this agent")
	}
	return k.kel, k.keyset, nil
}
