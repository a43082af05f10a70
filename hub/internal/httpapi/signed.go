package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
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

	release func() // what the body takes of the budget
}

// drop lets go of the body when all of it was taken out.
func (c *Caller) drop() {
	c.Body = nil
	c.release()
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
	return a.open(func(w http.ResponseWriter, r *http.Request) (err error) {
		claim, who, err := a.claim(r, rt)
		if err != nil {
			return err
		}
		defer func() { a.forget(claim.AID, err) }()
		body, release, err := a.readBody(w, r, rt.maxBody)
		if err != nil {
			return err
		}
		defer release()
		req, err := a.request(r, claim, rt.action, body)
		if err != nil {
			return err
		}
		proof, err := a.prove(r.Context(), req, who)
		if err != nil {
			return err
		}
		return h(w, r, &Caller{AID: claim.AID, Body: body, Proof: proof, release: release})
	})
}

// forget drops what is remembered of a signer that turned out to be blocked, or
// gone: then its next request is refused before its body is read.
func (a *API) forget(aid string, err error) {
	if errs.Is(err, "blocked") || errs.Is(err, "unknown_signer") {
		a.Replays.Forget(aid)
	}
}

// signer is who a request claims to be from: the history that is remembered of
// it or, where none is, the one on record. Nothing relies on a remembered one:
// prove and the use of the proof see to that.
type signer struct {
	moderation.Visitor
	known *identity.History
	kel   []byte
}

// visitor is who makes a request, as it claims, and from where.
func (a *API) visitor(r *http.Request, aid string) moderation.Visitor {
	return moderation.Visitor{AID: aid, From: a.Proxies.client(r).Unmap().WithZone(""), At: a.Now()}
}

// claim reads the headers and finds the signer, before any body is read.
func (a *API) claim(r *http.Request, rt signedRoute) (claim relayauth.Claim, who signer, err error) {
	if claim, err = parseClaim(r); err != nil {
		return claim, who, err
	}
	if rt.before != nil {
		if err := rt.before(r, claim.AID); err != nil {
			return claim, who, err
		}
	}
	who.Visitor = a.visitor(r, claim.AID)
	if who.known = a.Replays.Latest(claim.AID); who.known == nil {
		who.kel, err = a.onRecord(r.Context(), who.Visitor)
	}
	return claim, who, err
}

func (a *API) onRecord(ctx context.Context, v moderation.Visitor) ([]byte, error) {
	kel, err := a.Signers.SignerKEL(ctx, v)
	if errs.KindOf(err) == errs.NotFound {
		return nil, replay.UnknownSigner()
	}
	return kel, err
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

// request says what a claim has to have signed to be good for what was received
// (C.2, C.3 steps 3 and 4).
func (a *API) request(r *http.Request, claim relayauth.Claim, action string, body []byte) (relayauth.Request, error) {
	key := a.Key.Current()
	if key == nil {
		return relayauth.Request{}, errNoIdentity()
	}
	if !claim.Fresh(a.Now()) {
		return relayauth.Request{}, errs.New(errs.Unauthorized, "stale_timestamp",
			"the request is dated more than five minutes from this hub's clock: check the clock").
			With("hub_time_ms", a.Now().UnixMilli())
	}
	return claim.Over(action, key.AID(), r.Method, target(r), body), nil
}

// prove checks a signature against what is known of its signer (C.3 step 5).
// Where a remembered history does not bear it out, the one on record may.
func (a *API) prove(ctx context.Context, req relayauth.Request, who signer) (_ replay.Proof, err error) {
	if who.known == nil {
		return a.proveUnder(req, who.Visitor, who.kel)
	}
	bad := req.Under(who.known)
	if bad == nil {
		sum := who.known.Sum()
		return a.proof(req, who.Visitor, sum[:]), nil
	}
	switch who.kel, err = a.onRecord(ctx, who.Visitor); {
	case err != nil:
		return replay.Proof{}, err
	case bytes.Equal(who.kel, who.known.Raw()):
		return replay.Proof{}, errBadSignature(bad)
	}
	return a.proveUnder(req, who.Visitor, who.kel)
}

// proveUnder checks a signature against the history on record.
func (a *API) proveUnder(req relayauth.Request, v moderation.Visitor, kel []byte) (replay.Proof, error) {
	if err := a.verify(req, kel); err != nil {
		return replay.Proof{}, err
	}
	sum := sha256.Sum256(kel)
	return a.proof(req, v, sum[:]), nil
}

// verify checks a signature against a history, which is decoded and replayed
// only where it is not the one that is remembered.
func (a *API) verify(req relayauth.Request, kel []byte) error {
	var err error
	if h := a.Replays.Latest(req.AID); h != nil && bytes.Equal(h.Raw(), kel) {
		err = req.Under(h)
	} else {
		err = req.Verify(kel, a.Replays.Replay)
	}
	if err != nil {
		return errBadSignature(err)
	}
	return nil
}

func errBadSignature(cause error) error {
	return errs.New(errs.Unauthorized, "bad_signature", "the signature does not verify").Because(cause)
}

// proof is to be used up if the history with that sum is on record.
func (a *API) proof(req relayauth.Request, v moderation.Visitor, under []byte) replay.Proof {
	p := proofOf(req.Claim, v)
	p.Under = under
	p.Again = func(kel []byte) (replay.Proof, error) { return a.proveUnder(req, v, kel) }
	return p
}

func proofOf(c relayauth.Claim, v moderation.Visitor) replay.Proof {
	return replay.Proof{AID: c.AID, Key: c.ReplayKey(), From: v.From, SignedAt: time.UnixMilli(int64(c.TS))}
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
