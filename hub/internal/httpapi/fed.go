package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// Federation serves what hubs ask each other for (wire 2, J.2 and J.3).
type Federation struct {
	Receiver *forward.Receiver
	Keys     *forward.KeyDesk
	Memory   Budget       // what forwards may take of the budget of all requests
	Room     learned.Room // for what one peer teaches
}

func (f *Federation) routes(a *API, r chi.Router) {
	r.Post("/fed/v1/forward", a.between(f.forward(a)))
	r.Get("/fed/v2/keys/{aid}", a.between(f.keys(a)))
}

func (f *Federation) tell(l *wire.Limits) {
	rate := rate(f.Receiver.Rate, "peer")
	l.Federation = wire.FederationLimits{
		Forward: bodyOf(f.Receiver.Limits.Envelope), Hops: wire.MaxHops,
		SkewMS: forward.Memory.Milliseconds(), RememberedMS: forward.Memory.Milliseconds(),
		Quota: rate.Quota, WindowMS: rate.WindowMS,
		Agents: f.Room.Agents, Bytes: f.Room.Bytes,
	}
}

// between serves a route between hubs, whose failures have a form of their own: a
// label and a sentence (wire 2, J.1).
func (a *API) between(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		e := a.explain(w, r, err)
		if e == nil {
			return
		}
		status, label := wire.FedAnswer(e)
		if err := writeJSON(w, status, wire.FedProblem{Error: label, Detail: e.Message}); err != nil {
			a.undelivered(r, err)
		}
	}
}

// forward serves POST /fed/v1/forward.
func (f *Federation) forward(a *API) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := f.Receiver.Open(); err != nil {
			return err
		}
		memory := both{a.Budget, f.Memory}
		body, release, err := readBody(memory, w, r, bodyOf(f.Receiver.Limits.Envelope))
		if err != nil {
			return err
		}
		defer release()
		in, err := parseForward(body)
		if err != nil {
			return err
		}
		defer func() { in.release() }()
		duplicate, err := f.Receiver.Receive(r.Context(), in.Forward, func() ([]byte, error) { return in.payload(memory) })
		switch {
		case err != nil:
			return err
		case duplicate:
			return writeJSON(w, http.StatusOK, wire.Forwarded{Status: wire.ForwardDuplicate})
		}
		return writeJSON(w, http.StatusAccepted, wire.Forwarded{Status: wire.ForwardQueued})
	}
}

// keys serves GET /fed/v2/keys/{aid} with the checks of wire 2, J.3, in their
// order.
func (f *Federation) keys(a *API) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := f.Receiver.Open(); err != nil {
			return err
		}
		claim, err := relayauth.ParseHeaders(r.Header)
		if err != nil {
			return forward.AuthRequired(describe(err))
		}
		peer, err := f.Receiver.Gate.Peer(claim.AID)
		if err != nil {
			return err
		}
		proof, err := f.prove(a, r, claim, peer)
		if err != nil {
			return err
		}
		leave, err := f.Receiver.Enter(peer)
		if err != nil {
			return err
		}
		defer leave()
		keyset, kel, err := f.Keys.Answer(r.Context(), proof, aidOf(r))
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, wire.FedKeys{Keyset: keyset, KEL: kel})
	}
}

// prove checks the date and the signature of a peer's question.
func (f *Federation) prove(a *API, r *http.Request, claim relayauth.Claim, peer peers.Peer) (replay.Proof, error) {
	req, err := a.request(r, claim, wire.ActionFedKeys, nil)
	if err != nil {
		return replay.Proof{}, err
	}
	if err := f.Receiver.Gate.Verify(r.Context(), peer, req.Under); err != nil {
		return replay.Proof{}, err
	}
	return proofOf(claim, a.visitor(r, claim.AID)), nil
}
