package directory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Standing tells what is known of an AID that wants to register; one that is
// blocked is refused. Neither that one nor a stranger is remembered any longer:
// what is remembered has its body read first.
func (d *Directory) Standing(ctx context.Context, v moderation.Visitor) (Standing, error) {
	st, err := d.store.Standing(ctx, v)
	if err == nil && !st.Known || errs.KindOf(err) == errs.Forbidden {
		d.recent.forget(v.AID)
	}
	return st, err
}

// Recent is what this process remembers of an AID's last registration. There may
// have been others elsewhere: Recall finds out.
func (d *Directory) Recent(aid string) (Recent, bool) { return d.recent.find(aid) }

// Recall takes a registration that is remembered as the last one of its agent:
// where the record says so too, the proof is used up and the agent counts as
// seen. Where it gives nil, it is Standing that knows.
func (d *Directory) Recall(ctx context.Context, p replay.Proof, body BodyHash) (answer []byte, err error) {
	now := d.now()
	answer, err = d.store.Recall(ctx, p, body, now)
	if err == nil && answer != nil {
		d.life.Seen(p.AID, now)
	}
	return answer, err
}

// Repeat takes a registration that changes nothing: the proof is used up and
// the agent counts as seen.
func (d *Directory) Repeat(ctx context.Context, p replay.Proof, st Standing) error {
	if err := d.store.Remember(ctx, p); err != nil {
		return err
	}
	d.recent.note(p.AID, Recent{st.Body, sha256.Sum256(st.KEL)})
	d.life.Seen(p.AID, d.now())
	return nil
}

// Invited refuses an AID that is not registered and brings no invite that would
// let it in, before anything of it is worked through (wire 2, I.3, step 6). The
// last word is said when it registers.
func (d *Directory) Invited(ctx context.Context, app Application) error {
	hash := d.entry(app, time.Time{}).Invite
	if hash == "" {
		return d.door.Admit(app.Invite, nil, d.now())
	}
	shown, err := d.store.Invited(ctx, hash, app.AID)
	if err != nil {
		return err
	}
	return d.door.Admit(app.Invite, shown, d.now())
}

func (d *Directory) entry(app Application, now time.Time) Entry {
	e := Entry{KEL: app.KEL, At: now}
	if d.door.Asks(app.Invite) {
		e.Invite = app.Invite.Hash()
	}
	return e
}

// Register admits an application whose signature was verified against its own
// key history (wire 2, I.3, from step 9 on). A bad key set or card never fails
// it: the answer says what became of each.
func (d *Directory) Register(ctx context.Context, app Application, p replay.Proof) (wire.Registered, error) {
	now := d.now().UTC().Truncate(time.Microsecond)
	v, err := d.vet(ctx, app, now)
	if err != nil {
		return wire.Registered{}, err
	}
	var answer wire.Registered
	var repeatable bool
	err = d.store.Register(ctx, p, d.entry(app, now), func(rec Record) (Change, error) {
		ch, ans, err := d.decide(ctx, app, v, rec, now)
		answer, repeatable = ans, ch.Repeat != nil
		return ch, err
	})
	if err != nil {
		return wire.Registered{}, err
	}
	if repeatable {
		d.recent.note(app.AID, Recent{app.Body, sha256.Sum256(app.KEL)})
	} else {
		d.recent.forget(app.AID)
	}
	d.life.Seen(app.AID, now)
	return answer, nil
}

// vetted is what could be checked before anything is locked.
type vetted struct {
	keys vettedKeys
	card vettedCard
	adp  vettedADP
}

func (d *Directory) vet(ctx context.Context, app Application, now time.Time) (v vetted, err error) {
	if v.adp, err = d.vetADP(app, now); err != nil {
		return v, err
	}
	v.keys = d.vetKeys(app.AID, app.Keyset, app.KEL, now)
	v.card = d.vetCard(ctx, app.AID, app.Card, app.KEL)
	return v, nil
}

// decide applies a vetted application to what is on record. The record is
// locked meanwhile, so of two registrations at once the second sees the first.
func (d *Directory) decide(ctx context.Context, app Application, v vetted, rec Record, now time.Time) (Change, wire.Registered, error) {
	ch := Change{Agent: app.agent(rec, now), Body: app.Body}
	ans := wire.Registered{AID: app.AID, Status: "registered"}
	var err error
	if ch.KEL, err = grown(app.KEL, rec); err != nil {
		return ch, ans, err
	}
	if ch.Redeem, err = d.redeem(app, rec, now); err != nil {
		return ch, ans, err
	}
	if ch.ADP, err = v.adp.decide(rec); err != nil {
		return ch, ans, err
	}
	if ch.Lapsed, err = d.lapses(ch.KEL, rec, now); err != nil {
		return ch, ans, err
	}
	ch.Keyset, ans.KeysStatus, err = v.keys.decide(rec.Keyset)
	if refused := errs.As(err); refused != nil {
		ans.KeysError = refused.Message
	} else if err != nil {
		return ch, ans, err
	}
	cards := d.decideCard(ctx, app, v.card, rec)
	ch.Card, ch.Agent.Card = cards.change, cards.facts
	ans.CardStatus, ans.CardError = cards.status, cards.problem
	ans.IgnoredCaps = append(append([]string(nil), app.Ignored...), cards.ignored...)
	ans.Added, ans.Removed, ans.Unchanged = compareCaps(rec.caps(), ch.Agent.Caps())
	if !settled(ans) {
		return ch, ans, nil
	}
	ch.Until = v.keys.until(now)
	ch.Repeat, err = repetition(ans)
	return ch, ans, err
}

// redeem names the invite that lets an unknown AID in. Who is registered needs
// none, and who comes back with the one it used before uses it no second time.
func (d *Directory) redeem(app Application, rec Record, now time.Time) (id string, err error) {
	if rec.Agent != nil {
		return "", nil
	}
	if err := d.door.Admit(app.Invite, rec.Invite, now); err != nil || rec.Invite == nil || rec.Invite.Used {
		return "", err
	}
	return rec.Invite.ID, nil
}

// agent is the registration to be: what the application says, on top of what
// stays of the one before.
func (app Application) agent(rec Record, now time.Time) Agent {
	a := Agent{AID: app.AID, Visibility: HubLocal, RegisteredAt: now, Hidden: rec.Hidden}
	if rec.Agent != nil {
		a = *rec.Agent
	}
	a.Name, a.Tags, a.Rating = app.Name, app.Tags, rec.Rating
	a.Away = false // a registration is a sign of life
	if !app.Profile.IsZero() {
		a.Profile = app.Profile
	}
	return a
}

func (r Record) caps() []string {
	if r.Agent == nil {
		return nil
	}
	return r.Agent.Caps()
}

// grown is the history to keep: the one that is stored, or what it has grown
// into. An AID that left may come back with what it had. What peers told of counts
// as well: who was given an old key could otherwise register with the history of
// that time, and be the one whom lists believe.
func grown(kel []byte, rec Record) ([]byte, error) {
	kel, err := since(kel, rec.KEL)
	if err != nil || rec.Elsewhere.KEL == nil {
		return kel, err
	}
	return since(kel, rec.Elsewhere.KEL)
}

// since is a history that is submitted beside one on record: either that, or what
// it has grown into.
func since(kel, record []byte) ([]byte, error) {
	if bytes.Equal(kel, record) {
		return kel, nil
	}
	rel, err := identity.Compare(kel, record)
	if err != nil {
		return nil, fmt.Errorf("compare key histories: %w", err)
	}
	switch rel {
	case identity.Extends:
		return kel, nil
	case identity.Equal:
		return record, nil
	case identity.Shorter:
		return nil, errs.New(errs.Conflict, "kel_rollback",
			"the key history on record is longer: register with the current one").In("kel")
	default:
		return nil, errs.New(errs.Conflict, "kel_forked",
			"the key history contradicts the one on record").In("kel")
	}
}

// compareCaps counts what a registration changed.
func compareCaps(before, after []string) (added, removed, unchanged int) {
	had := make(map[string]bool, len(before))
	for _, c := range before {
		had[c] = true
	}
	for _, c := range after {
		if had[c] {
			unchanged++
		}
	}
	return len(after) - unchanged, len(before) - unchanged, unchanged
}

// settled reports whether the same body would find nothing left to do. One with
// a rejected part is worked through again: time or a rotation may mend it.
func settled(ans wire.Registered) bool {
	return ans.KeysError == "" && ans.CardError == ""
}

// repetition is the answer to the same body once more.
func repetition(ans wire.Registered) ([]byte, error) {
	if ans.KeysStatus == statusOK {
		ans.KeysStatus = statusUnchanged
	}
	if ans.CardStatus == statusOK {
		ans.CardStatus = statusUnchanged
	}
	ans.Added, ans.Removed, ans.Unchanged = 0, 0, ans.Added+ans.Unchanged
	return json.Marshal(ans)
}

// What became of a key set or a card (wire 2, I.3, steps 14 and 15).
const (
	statusOK        = "ok"
	statusUnchanged = "unchanged"
	statusAbsent    = "absent"
	statusInvalid   = "invalid"
	statusConflict  = "conflict"
	statusWithdrawn = "withdrawn"
)
