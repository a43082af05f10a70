package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// healthz says that the process answers, nothing more.
func (a *API) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]any{
		"status": "ok", "version": a.Version, "wire": wire.Version,
	})
}

// readyWithin bounds what readiness waits for.
const readyWithin = 2 * time.Second

// readyz says whether this process can serve: a balancer takes it out of the
// round while a check fails. The cause stays in the log.
func (a *API) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()
	for _, c := range a.Checks {
		if !a.passes(ctx, c) {
			return errs.New(errs.Unavailable, "not_ready", "%s is not ready", c.Name).With("check", c.Name)
		}
	}
	return writeJSON(w, http.StatusOK, map[string]any{"status": "ready"})
}

// passes asks one check. Why it fails is the log's.
func (a *API) passes(ctx context.Context, c Check) bool {
	err := c.Ask(ctx)
	if err != nil {
		a.Log.Warn("not ready", "check", c.Name, "error", err)
	}
	return err == nil
}

// identity answers who this hub is (wire 2, I.2).
func (a *API) identity(w http.ResponseWriter, _ *http.Request) error {
	key := a.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	return writeJSON(w, http.StatusOK, a.self(key))
}

func (a *API) self(key *identity.Controller) wire.Identity {
	return wire.Identity{AID: key.AID(), KEL: key.KEL(), PublicURL: a.PublicURL}
}

func errNoIdentity() error {
	return errs.New(errs.Unavailable, "hub_identity_missing", "this hub has no identity yet").After(time.Second)
}
