package hubclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Pin is the hub a node has joined: its URL and the key history it proved to
// be. Whoever answers at that URL later must be the same AID.
type Pin struct {
	URL       string `json:"url"`
	AID       string `json:"aid"`
	KEL       []byte `json:"kel"`
	PublicURL string `json:"public_url,omitzero"` // where others reach it, if it says so
	AllowHTTP bool   `json:"allow_http,omitzero"`
}

// Shown is the hub's URL as the node's card shows it to others.
func (p Pin) Shown() string { return cmp.Or(p.PublicURL, p.URL) }

const pinFile = "hub.json"

// LoadPin reads the folder's pin; ok is false when the node joined no hub.
func LoadPin(dir datadir.Dir) (p Pin, ok bool, err error) {
	data, err := dir.Read(pinFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Pin{}, false, nil
	}
	if err != nil {
		return Pin{}, false, fmt.Errorf("read %s: %w", dir.Path(pinFile), err)
	}
	if err := codec.UnmarshalJSON(data, &p); err != nil {
		return Pin{}, false, errs.New(errs.Internal, "hub_file_broken",
			"%s is damaged; restore it, or remove it and join again: anet join URL", dir.Path(pinFile)).Because(err)
	}
	return p, true, nil
}

// Store keeps the pin in the folder.
func (p Pin) Store(dir datadir.Dir) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return dir.Write(pinFile, data)
}

// Forget takes the pin away: the node has left its hub.
func Forget(dir datadir.Dir) error {
	err := os.Remove(dir.Path(pinFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Accept checks what a hub says it is against the pin and returns the pin to
// keep from now on. An empty pin takes the first hub it meets.
func (p Pin) Accept(id wire.Identity) (Pin, error) {
	h, err := identity.Replay(id.KEL)
	switch {
	case err != nil || h.AID() != id.AID:
		return p, errs.New(errs.BadGateway, "hub_identity_invalid", "the hub at %s cannot prove its identity", p.URL).Because(err)
	case h.Deactivated():
		return p, errs.New(errs.Forbidden, "hub_identity_ended", "the hub at %s has given up its identity", p.URL)
	case p.AID != "" && p.AID != id.AID:
		return p, errs.New(errs.Forbidden, "hub_identity_changed",
			"another hub answers at %s: this node joined %s, and %s answered; if you meant to change hubs, run: anet join URL --move", p.URL, p.AID, id.AID)
	}
	p.PublicURL = publicURL(id.PublicURL)
	return p.grow(id)
}

// maxPublicURL is the longest address of a hub that is kept.
const maxPublicURL = 512

// publicURL is where a hub says that others reach it, empty where that is no
// place a card could name: it ends up on disk and with everybody who reads cards.
func publicURL(said string) string {
	if len(said) > maxPublicURL {
		return ""
	}
	u, err := ParseURL(said, true)
	if err != nil {
		return ""
	}
	return u.String()
}

// AnotherHub reports whether a failed Meet found somebody else than the pinned
// hub.
func AnotherHub(err error) bool {
	e := errs.As(err)
	return e != nil && e.Kind == errs.Forbidden &&
		(strings.HasPrefix(e.Reason, "hub_identity_") || strings.HasPrefix(e.Reason, "hub_history_"))
}

// grow takes a longer history of the pinned hub, and nothing else.
func (p Pin) grow(id wire.Identity) (Pin, error) {
	if p.AID == "" {
		p.AID, p.KEL = id.AID, id.KEL
		return p, nil
	}
	relation, err := identity.Compare(id.KEL, p.KEL)
	switch {
	case err == nil && relation == identity.Equal:
		return p, nil
	case err == nil && relation == identity.Extends:
		p.KEL = id.KEL
		return p, nil
	}
	return p, errs.New(errs.Forbidden, "hub_history_"+relation.String(),
		"the hub at %s shows a key history that does not continue the one this node knows", p.URL).Because(err)
}

// Meet asks the hub at the pin's URL who it is and which wire it speaks, before
// anything is signed for it. The pin that comes back is to be stored.
func Meet(ctx context.Context, o Options) (Pin, error) {
	c, err := New(o)
	if err != nil {
		return o.Hub, err
	}
	defer c.Close()
	return c.Meet(ctx, o.Hub)
}

// Meet is the same over the client's own connections, for a node at work.
func (c *Client) Meet(ctx context.Context, p Pin) (Pin, error) {
	var id wire.Identity
	if err := c.call(ctx, get("/hub/identity", nil), &id); err != nil {
		return p, err
	}
	p.URL = c.Hub()
	p, err := p.Accept(id)
	if err != nil {
		return p, err
	}
	// The identity route need not carry the wire header, the others must (C.4).
	a, err := c.do(ctx, get("/healthz", nil))
	if err != nil {
		return p, err
	}
	return p, c.checkWire(a)
}
