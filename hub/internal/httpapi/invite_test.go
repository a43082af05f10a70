package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// closedTown is a hub that takes in by invite only.
type closedTown struct {
	*town
	desk *admission.Desk
}

func newClosedTown(t *testing.T) *closedTown {
	t.Helper()
	w := newTownOn(t, pgtest.New(t), admission.Door{InviteOnly: true})
	return &closedTown{w, admission.NewDesk(postgres.NewInvites(w.pool), w.clock)}
}

func (w *closedTown) invite(uses int, lasts time.Duration) (id, token string) {
	w.t.Helper()
	i, secret, err := w.desk.Make(w.t.Context(), admission.Order{Uses: uses, For: lasts}, audit.By{})
	if err != nil {
		w.t.Fatal(err)
	}
	return i.ID, secret.Reveal()
}

func (w *closedTown) with(n *directorytest.Node, token string) wire.Register {
	r := n.Register("n", "x")
	r.Invite = token
	return r
}

func (w *closedTown) uses(id string) int {
	w.t.Helper()
	i, _, err := w.desk.Show(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return i.Uses
}

// Number 40: five refusals, told apart, before anything of the history is
// replayed or a signature looked at (I.3, step 6).
func TestRefusedInvites(t *testing.T) {
	w := newClosedTown(t)
	_, good := w.invite(1, time.Hour)
	_, used := w.invite(1, time.Hour)
	_, expired := w.invite(1, time.Second)
	revokedID, revoked := w.invite(1, time.Hour)
	w.mustRegister(w.node("first"), w.with(w.node("first"), used))
	w.advance(time.Minute)
	if _, err := w.desk.Revoke(t.Context(), revokedID, false, audit.By{}); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ why, token, code string }{
		{"none", "", wire.InviteRequired},
		{"of nobody", "anetinv_mfrggzdfmztwq2lknnwg23tpobyxe43u", wire.InviteUnknown},
		{"mistyped", good[:39] + "0", wire.InviteUnknown},
		{"cut", good[:30], wire.InviteUnknown},
		{"a zero byte", good[:39] + "\x00", wire.InviteUnknown},
		{"a very long one", strings.Repeat("a", 100_000), wire.InviteUnknown},
		{"revoked", revoked, wire.InviteRevoked},
		{"expired", expired, wire.InviteExpired},
		{"used up", used, wire.InviteUsedUp},
	}
	for _, tt := range tests {
		n := w.node("stranger")
		forged := w.signed(n, wire.ActionRegister, "/register", w.with(n, tt.token))
		forged.Header.Set(wire.HeaderSig, strings.Repeat("A", 86))
		a := w.do(forged)
		hint, _ := a.body["hint"].(string)
		if a.StatusCode != http.StatusForbidden || a.code() != tt.code || a.body["field"] != "invite" || hint == "" {
			t.Errorf("%s: %d %s, want 403 %s with a hint", tt.why, a.StatusCode, a.raw, tt.code)
		}
		if tt.token != "" && strings.Contains(string(a.raw), tt.token) {
			t.Errorf("%s: the answer repeats it", tt.why)
		}
	}
	if a := w.register(w.node("stranger"), w.with(w.node("stranger"), good)); a.StatusCode != http.StatusOK {
		t.Errorf("a good one: %d %s", a.StatusCode, a.raw)
	}
	clean := w.log.String()
	for _, token := range []string{good, used, expired, revoked} {
		if strings.Contains(clean, token[8:]) {
			t.Error("the log at its most verbose repeats a token")
		}
	}
}

// What is refused for another reason leaves the token as good as it was.
func TestABadRegistrationUsesNoInvite(t *testing.T) {
	w := newClosedTown(t)
	id, token := w.invite(1, time.Hour)
	known := w.node("known")
	_, own := w.invite(1, time.Hour)
	w.mustRegister(known, w.with(known, own))
	stranger := w.node("stranger")
	whole := func() *http.Request {
		return w.signed(stranger, wire.ActionRegister, "/register", w.with(stranger, token))
	}
	tests := []struct {
		why    string
		ask    func() *http.Request
		status int
	}{
		{"a bad signature", func() *http.Request {
			r := whole()
			r.Header.Set(wire.HeaderSig, strings.Repeat("A", 86))
			return r
		}, 401},
		{"a body cut in the middle", func() *http.Request {
			r := whole()
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body[:len(body)/2]))
			return r
		}, 400},
		{"a name too long", func() *http.Request {
			body := w.with(stranger, token)
			body.Name = strings.Repeat("n", 129)
			return w.signed(stranger, wire.ActionRegister, "/register", body)
		}, 400},
		{"a bad older card", func() *http.Request {
			body := w.with(stranger, token)
			body.Card = wire.RawJSON(`{}`)
			return w.signed(stranger, wire.ActionRegister, "/register", body)
		}, 400},
		{"who is known already", func() *http.Request {
			return w.signed(known, wire.ActionRegister, "/register", w.with(known, token))
		}, 200},
	}
	for _, tt := range tests {
		a := w.do(tt.ask())
		if a.StatusCode != tt.status || w.uses(id) != 0 {
			t.Errorf("%s: %d %s and %d uses, want %d and none", tt.why, a.StatusCode, a.raw, w.uses(id), tt.status)
		}
		if i, err := w.desk.Check(t.Context(), admission.ReadToken(token)); i == nil || err != nil {
			t.Errorf("%s: the token is %v afterwards", tt.why, err)
		}
	}
	if a := w.do(whole()); a.StatusCode != 200 || w.uses(id) != 1 {
		t.Errorf("after all that: %d %s and %d uses, want 200 and 1", a.StatusCode, a.raw, w.uses(id))
	}
}

// Whoever tries tokens pays by address, and is stopped long before a guess could
// be right; who is in, behind the same address, is not.
func TestGuessedInvitesCountAgainstTheAddress(t *testing.T) {
	w := newClosedTown(t)
	_, own := w.invite(1, time.Hour)
	known := w.node("known")
	w.mustRegister(known, w.with(known, own)) // one of the twenty
	statuses := map[int]int{}
	for range 60 {
		n := w.node("guesser")
		statuses[w.register(n, w.with(n, "anetinv_mfrggzdfmztwq2lknnwg23tpobyxe43u")).StatusCode]++
	}
	if statuses[403] != 19 || statuses[429] != 41 {
		t.Errorf("statuses %v, want 19 times 403 and then 429", statuses)
	}
	if a := w.register(known, known.Register("again", "x")); a.StatusCode != 200 {
		t.Errorf("who is known: %d %s", a.StatusCode, a.raw)
	}
}
