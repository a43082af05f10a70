package httpapi

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/relayauth"
)

// maxSignedBody bounds signed routes other than send and register (wire 2, I.1).
const maxSignedBody = 1 << 20

// Caller is who signed a request, with the body the signature covers. Proof is
// to be remembered in the transaction of the request's effect, so that neither
// happens without the other.
type Caller struct {
	AID   string
	Body  []byte
	Proof replay.Proof
}

// signedRoute says how a signed request is checked.
type signedRoute struct {
	action  string
	maxBody int64
	// before refuses on the strength of the header alone, before the body is
	// read. The AID is a mere claim there.
	before func(r *http.Request, aid string) error
}

// signed serves a route of one action with the checks of wire 2, C.3, in their
// order: what costs nothing first, the body only for a registered signer.
func (a *API) signed(rt signedRoute, h func(http.ResponseWriter, *http.Request, *Caller) error) http.HandlerFunc {
	if rt.maxBody == 0 {
		rt.maxBody = maxSignedBody
	}
	return a.open(func(w http.ResponseWriter, r *http.Request) error {
		claim, kel, err := a.claim(r, rt)
		if err != nil {
			return err
		}
		body, release, err := a.readBody(w, r, rt.maxBody)
		if err != nil {
			return err
		}
		defer release()
		c, err := a.verify(r, claim, kel, rt.action, body)
		if err != nil {
			return err
		}
		return h(w, r, c)
	})
}

// claim reads the headers and finds the signer, before any body is read.
func (a *API) claim(r *http.Request, rt signedRoute) (relayauth.Claim, []byte, error) {
	claim, err := parseClaim(r)
	if err != nil {
		return claim, nil, err
	}
	if rt.before != nil {
		if err := rt.before(r, claim.AID); err != nil {
			return claim, nil, err
		}
	}
	kel, err := a.Signers.SignerKEL(r.Context(), claim.AID)
	if errs.KindOf(err) == errs.NotFound {
		return claim, nil, errs.New(errs.Unauthorized, "unknown_signer",
			"the signer is not registered at this hub: register first")
	}
	return claim, kel, err
}

func parseClaim(r *http.Request) (relayauth.Claim, error) {
	claim, err := relayauth.ParseHeaders(r.Header)
	if err != nil {
		return claim, errs.New(errs.Unauthorized, "bad_auth_headers", "the request is not signed as this route needs: %s", describe(err))
	}
	if aid := chi.URLParam(r, "aid"); aid != "" && aid != claim.AID {
		return claim, errs.New(errs.Unauthorized, "not_the_owner", "the signer is not the agent in the path")
	}
	return claim, nil
}

// verify checks the signature over what was received (C.2, C.3 steps 3 to 5).
func (a *API) verify(r *http.Request, claim relayauth.Claim, kel []byte, action string, body []byte) (*Caller, error) {
	key := a.Key.Current()
	if key == nil {
		return nil, errNoIdentity()
	}
	if !claim.Fresh(a.Now()) {
		return nil, errs.New(errs.Unauthorized, "stale_timestamp",
			"the request is dated more than five minutes from this hub's clock: check the clock").
			With("hub_time_ms", a.Now().UnixMilli())
	}
	if err := claim.Verify(kel, a.Replays.Replay, action, key.AID(), r.Method, target(r), body); err != nil {
		return nil, errs.New(errs.Unauthorized, "bad_signature", "the signature does not verify").Because(err)
	}
	return &Caller{AID: claim.AID, Body: body, Proof: proofOf(claim)}, nil
}

func proofOf(c relayauth.Claim) replay.Proof {
	return replay.Proof{AID: c.AID, Key: c.ReplayKey(), SignedAt: time.UnixMilli(int64(c.TS))}
}

// target is the request target exactly as it was sent. net/http keeps it in
// RequestURI, a bare trailing question mark included.
func target(r *http.Request) string { return r.RequestURI }

// describe gives the words of an error made for callers, and nothing of one
// that was not.
func describe(err error) string {
	if e := errs.As(err); e != nil {
		return e.Message
	}
	return "malformed"
}
