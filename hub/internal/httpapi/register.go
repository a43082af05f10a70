package httpapi

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// applicant is who wants to register: a claim, and what the hub knows of the
// AID it names. That is what this process remembers, if it does, until lookUp
// asks what is on record: an agent that is remembered counts as known meanwhile.
type applicant struct {
	claim    relayauth.Claim
	known    bool
	recent   *directory.Recent
	standing directory.Standing
}

// register serves POST /register in the order of wire 2, I.3. The address is
// charged for an AID that is not registered and for what is refused before a
// signature proved who asks: a host of a hundred nodes may start them all at
// once, a stranger may not, and naming a known AID makes nobody less of one.
func (d *Directory) register(w http.ResponseWriter, r *http.Request) error {
	who, err := d.knock(r)
	if err != nil {
		return err
	}
	body, release, err := d.api.readBody(w, r, maxSignedBody)
	if err != nil {
		return d.blame(r, who, err)
	}
	defer release()
	hash := directory.BodyHash(sha256.Sum256(body))
	if who.recent != nil {
		if answered, err := d.recall(w, r, who, body, hash); answered || err != nil {
			return err
		}
		if err := d.lookUp(r, who); err != nil {
			return err
		}
	}
	if who.standing.Repeats(hash, d.api.Now()) {
		return d.repeat(w, r, who, body)
	}
	app, err := application(who.claim.AID, body, hash)
	if err != nil {
		return d.blame(r, who, err)
	}
	if !who.standing.Known {
		if err := d.Rules.Invited(r.Context(), app); err != nil {
			return err
		}
	}
	caller, err := d.prove(r, who, app.KEL, body)
	if err != nil {
		return err
	}
	var answer wire.Registered
	err = d.admit(w, r, who, caller, func() (err error) {
		answer, err = d.Rules.Register(r.Context(), app, caller.Proof)
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}

// knock finds out who wants to register. Headers that say nothing are a
// stranger's.
func (d *Directory) knock(r *http.Request) (*applicant, error) {
	claim, malformed := parseClaim(r)
	if malformed != nil {
		return nil, cmp.Or(d.Strangers.Take(d.api.clientBucket(r)), malformed)
	}
	who := &applicant{claim: claim}
	if last, ok := d.Rules.Recent(claim.AID); ok {
		who.known, who.recent = true, &last
		return who, nil
	}
	return who, d.lookUp(r, who)
}

// lookUp reads what is on record.
func (d *Directory) lookUp(r *http.Request, who *applicant) (err error) {
	if who.standing, err = d.Rules.Standing(r.Context(), d.api.visitor(r, who.claim.AID)); err != nil {
		return err
	}
	if who.known = who.standing.Known; who.known {
		return nil
	}
	return d.Strangers.Take(d.api.clientBucket(r))
}

// recall answers a registration that is, byte for byte, the one this process
// remembers, without a look at what is on record: the use of the proof sees to
// that. Where it does not hold, nothing is answered.
func (d *Directory) recall(w http.ResponseWriter, r *http.Request, who *applicant, body []byte, hash directory.BodyHash) (answered bool, err error) {
	h := d.api.Replays.Latest(who.claim.AID)
	if h == nil || *who.recent != (directory.Recent{Body: hash, Under: h.Sum()}) {
		return false, nil
	}
	caller, err := d.prove(r, who, h.Raw(), body)
	if err != nil {
		return true, err
	}
	giveBack, err := d.Members.Reserve(who.claim.AID)
	if err != nil {
		return true, err
	}
	answer, err := d.Rules.Recall(r.Context(), caller.Proof, hash)
	if err != nil {
		return true, err
	}
	if answer == nil {
		giveBack()
		return false, nil
	}
	showQuota(w, d.Members.Quota(who.claim.AID))
	return true, writeBody(w, http.StatusOK, "application/json", answer)
}

// repeat answers a registration that is, byte for byte, the last one.
func (d *Directory) repeat(w http.ResponseWriter, r *http.Request, who *applicant, body []byte) error {
	caller, err := d.prove(r, who, who.standing.KEL, body)
	if err != nil {
		return err
	}
	err = d.admit(w, r, who, caller, func() error { return d.Rules.Repeat(r.Context(), caller.Proof, who.standing) })
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, "application/json", who.standing.Answer)
}

// prove verifies the signature over a registration.
func (d *Directory) prove(r *http.Request, who *applicant, kel, body []byte) (*Caller, error) {
	req, err := d.api.request(r, who.claim, wire.ActionRegister, body)
	if err == nil {
		err = d.api.verify(req, kel)
	}
	if err != nil {
		return nil, d.blame(r, who, asBadKEL(err))
	}
	return &Caller{AID: who.claim.AID, Body: body, Proof: proofOf(who.claim, d.api.visitor(r, who.claim.AID))}, nil
}

// admit lets the signer register within its own limit. A signature that was used
// before is not the signer's doing, and does not count against it.
func (d *Directory) admit(w http.ResponseWriter, r *http.Request, who *applicant, c *Caller, register func() error) error {
	giveBack, err := d.Members.Reserve(c.AID)
	if err != nil {
		return err
	}
	err = register()
	if errs.KindOf(err) == errs.Unauthorized {
		giveBack()
		return d.blame(r, who, err)
	}
	showQuota(w, d.Members.Quota(c.AID))
	return err
}

// blame charges the address for a request that did not prove to come from the
// AID it names. A stranger paid when it knocked, and nobody pays for what is
// the hub's own failure.
func (d *Directory) blame(r *http.Request, who *applicant, err error) error {
	if kind := errs.KindOf(err); !who.known || kind == errs.Unavailable || kind == errs.Internal {
		return err
	}
	if limited := d.Strangers.Take(d.api.clientBucket(r)); limited != nil {
		return limited
	}
	return err
}

// asBadKEL tells a history that is none from a signature that is bad (step 7).
func asBadKEL(err error) error {
	var v *identity.VerifyError
	if errors.As(err, &v) && v.Code == identity.UnknownAID {
		return errs.New(errs.Invalid, "kel_invalid", "kel is no key history of this AID").In("kel").Because(err)
	}
	return err
}
