package postgres

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// club is a hub that takes in by invite only.
type club struct {
	*hub
	desk *admission.Desk
}

var inviteOnly = admission.Door{InviteOnly: true}

func newClub(t *testing.T) *club {
	t.Helper()
	h := newHubWith(t, inviteOnly)
	return &club{h, admission.NewDesk(NewInvites(h.pool), h.clock.now)}
}

func (c *club) invite(uses int, lasts time.Duration) (id string, token admission.Token) {
	c.t.Helper()
	i, token, err := c.desk.Make(c.t.Context(), admission.Order{Uses: uses, For: lasts}, audit.By{Who: "tester"})
	if err != nil {
		c.t.Fatal(err)
	}
	return i.ID, token
}

// come registers with a token, "" for none.
func (c *club) come(n *directorytest.Node, token admission.Token) error {
	r := n.Register("n", "x")
	r.Invite = token.Reveal()
	_, err := c.tryRegister(n, r)
	return err
}

func (c *club) uses(id string) int {
	c.t.Helper()
	i, came, err := c.desk.Show(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	if i.Uses != len(came) {
		c.t.Errorf("%d uses are counted and %d came in", i.Uses, len(came))
	}
	return i.Uses
}

func (c *club) wants(what string, err error, reason string) {
	c.t.Helper()
	if reason == "" && err == nil || reason != "" && errs.Is(err, reason) {
		return
	}
	c.t.Errorf("%s: %v, want %q", what, err, reason)
}

// Thirty strangers at once, through two processes, on one token: exactly as many
// come in as it has uses, and the rest are told one thing.
func TestAnInviteAdmitsAsManyAsItSays(t *testing.T) {
	for _, uses := range []int{1, 5} {
		c := newClub(t)
		id, token := c.invite(uses, time.Hour)
		memory := newReplay(c.pool, c.clock)
		other := directory.New(NewDirectory(c.pool, memory), directorytest.Usual{}, inviteOnly, identity.Replay, c.clock.now)
		processes := []*directory.Directory{c.Directory, other}
		begin := make(chan struct{})
		results := make(chan error, 30)
		var wait sync.WaitGroup
		for k := range 30 {
			n := c.node()
			r := n.Register("n", "x")
			r.Invite = token.Reveal()
			app, proof := n.Apply(r), n.Proof(c.clock.now())
			wait.Go(func() {
				<-begin
				_, err := processes[k%2].Register(context.Background(), app, proof)
				results <- err
			})
		}
		close(begin)
		wait.Wait()
		close(results)
		in := 0
		for err := range results {
			if err == nil {
				in++
			} else if !errs.Is(err, wire.InviteUsedUp) {
				t.Errorf("refused with %v, want used up", err)
			}
		}
		if in != uses || c.uses(id) != uses || rows(t, c.pool, "agent") != uses || rows(t, c.pool, "member") != uses {
			t.Errorf("%d came in with a token of %d uses; %d uses counted, %d agents", in, uses, c.uses(id), rows(t, c.pool, "agent"))
		}
	}
}

// Who comes in thirty times at once comes in once.
func TestOneAgentUsesAnInviteOnce(t *testing.T) {
	c := newClub(t)
	id, token := c.invite(5, time.Hour)
	n := c.node()
	r := n.Register("n", "x")
	r.Invite = token.Reveal()
	app, now := n.Apply(r), c.clock.now()
	var wait sync.WaitGroup
	for range 30 {
		wait.Go(func() {
			if _, err := c.Register(context.Background(), app, n.Proof(now)); err != nil {
				t.Errorf("registering at once: %v", err)
			}
		})
	}
	wait.Wait()
	if c.uses(id) != 1 {
		t.Errorf("%d uses, want 1", c.uses(id))
	}
	c.wants("once more", c.come(n, token), "")
	if _, err := c.Deregister(t.Context(), n.Proof(c.clock.now())); err != nil {
		t.Fatal(err)
	}
	c.wants("back with the same token", c.come(n, token), "")
	if c.uses(id) != 1 {
		t.Errorf("%d uses after coming back, want 1", c.uses(id))
	}
}

// A registration that comes to nothing uses nothing, wherever it ends.
func TestAFailedRegistrationUsesNoInvite(t *testing.T) {
	c := newClub(t)
	id, token := c.invite(1, time.Hour)
	tests := []struct {
		why    string
		hurt   string // a statement that makes the database fail half-way
		mend   string
		card   string
		reason string
	}{
		{why: "the mailbox cannot be opened", hurt: `ALTER TABLE mailbox RENAME TO gone`, mend: `ALTER TABLE gone RENAME TO mailbox`},
		{why: "the use cannot be written", hurt: `ALTER TABLE invite_use RENAME TO gone`, mend: `ALTER TABLE gone RENAME TO invite_use`},
		{why: "the agent cannot be written", hurt: `ALTER TABLE agent ADD CONSTRAINT never CHECK (false) NOT VALID`, mend: `ALTER TABLE agent DROP CONSTRAINT never`},
		{why: "a bad older card", card: `{"subject_did":"x"}`, reason: "card_refused"},
	}
	for _, tt := range tests {
		n := c.node()
		r := n.Register("n", "x")
		r.Invite, r.Card = token.Reveal(), wire.RawJSON(tt.card)
		c.run(tt.hurt)
		_, err := c.tryRegister(n, r)
		c.run(tt.mend)
		if err == nil || tt.reason != "" && !errs.Is(err, tt.reason) {
			t.Errorf("%s: %v", tt.why, err)
		}
		if c.uses(id) != 0 {
			t.Fatalf("%s: %d uses, want none", tt.why, c.uses(id))
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	n := c.node()
	r := n.Register("n", "x")
	r.Invite = token.Reveal()
	if _, err := c.Register(gone, n.Apply(r), n.Proof(c.clock.now())); err == nil || c.uses(id) != 0 {
		t.Errorf("hung up in the middle: %v, %d uses", err, c.uses(id))
	}
	c.wants("a history that goes back", c.comeWithLess(token), "kel_rollback")
	c.wants("the token after all that", c.come(n, token), "")
	if c.uses(id) != 1 {
		t.Errorf("%d uses, want 1", c.uses(id))
	}
}

// comeWithLess comes back, after it left, with a shorter key history.
func (c *club) comeWithLess(token admission.Token) error {
	c.t.Helper()
	n := c.node()
	before := n.Key
	n.Rotate(c.clock.now())
	_, own := c.invite(1, 0)
	c.wants("the first time", c.come(n, own), "")
	if _, err := c.Deregister(c.t.Context(), n.Proof(c.clock.now())); err != nil {
		c.t.Fatal(err)
	}
	n.Key = before
	return c.come(n, token)
}

func (c *club) run(sql string) {
	c.t.Helper()
	if sql == "" {
		return
	}
	if _, err := c.pool.Exec(c.t.Context(), sql); err != nil {
		c.t.Fatal(err)
	}
}

// Who is in stays in, whatever becomes of the invite; others are told what did.
func TestMembersNeedTheirInviteNoMore(t *testing.T) {
	c := newClub(t)
	id, token := c.invite(0, time.Minute)
	member := c.node()
	c.wants("coming in", c.come(member, token), "")
	tests := []struct {
		what     string
		how      func()
		stranger string
	}{
		{"expired", func() { c.clock.advance(time.Hour) }, wire.InviteExpired},
		{"revoked", func() {
			if _, err := c.desk.Revoke(t.Context(), id, false, audit.By{Who: "tester"}); err != nil {
				t.Fatal(err)
			}
		}, wire.InviteRevoked},
		{"deleted", func() { c.run(`DELETE FROM invite`) }, wire.InviteUnknown},
	}
	for _, tt := range tests {
		tt.how()
		c.wants(tt.what+", without a token", c.come(member, admission.Token{}), "")
		c.wants(tt.what+", with the old token", c.come(member, token), "")
		c.wants(tt.what+", with nonsense", c.come(member, admission.ReadToken("x")), "")
		c.wants(tt.what+", a stranger", c.come(c.node(), token), tt.stranger)
	}
	c.wants("a stranger without one", c.come(c.node(), admission.Token{}), wire.InviteRequired)
	if n := rows(t, c.pool, "agent"); n != 1 {
		t.Errorf("%d agents, want the member", n)
	}
}

// Who leaves or is removed gives no use back, and is still told of. To come back
// it shows the invite it came with, while that is in force.
func TestARemovedMemberFreesNoUse(t *testing.T) {
	c := newClub(t)
	id, token := c.invite(1, time.Hour)
	a, b := c.node(), c.node()
	c.wants("A", c.come(a, token), "")
	came := c.clock.now()
	if _, err := c.Deregister(t.Context(), a.Proof(c.clock.now())); err != nil {
		t.Fatal(err)
	}
	c.wants("B with A's token", c.come(b, token), wire.InviteUsedUp)
	_, who, err := c.desk.Show(t.Context(), id)
	if err != nil || len(who) != 1 || who[0].AID != a.AID() || who[0].Registered || !who[0].At.Equal(came) {
		t.Errorf("came in: %+v, %v, want A at %s, who has left", who, err, came)
	}
	c.wants("A without one", c.come(a, admission.Token{}), wire.InviteRequired)
	c.wants("A with its own", c.come(a, token), "")
	if _, err := c.Deregister(t.Context(), a.Proof(c.clock.now())); err != nil {
		t.Fatal(err)
	}
	if _, err := c.desk.Revoke(t.Context(), id, false, audit.By{}); err != nil {
		t.Fatal(err)
	}
	c.wants("A once its own is revoked", c.come(a, token), wire.InviteRevoked)
}

// A token that a hub does not ask for is used by nobody.
func TestAnOpenHubUsesNoInvite(t *testing.T) {
	h := newHub(t)
	c := &club{h, admission.NewDesk(NewInvites(h.pool), h.clock.now)}
	id, token := c.invite(1, time.Hour)
	c.wants("with a token", c.come(c.node(), token), "")
	c.wants("with nonsense", c.come(c.node(), admission.ReadToken("x")), "")
	if c.uses(id) != 0 {
		t.Errorf("%d uses, want none", c.uses(id))
	}
}

// Only the hash is at rest.
func TestNoTableHoldsAToken(t *testing.T) {
	c := newClub(t)
	_, token := c.invite(1, time.Hour)
	c.wants("coming in", c.come(c.node(), token), "")
	tables := []string{"invite", "invite_use", "audit", "member", "agent"}
	for _, table := range tables {
		var holds bool
		err := c.pool.QueryRow(t.Context(), `SELECT coalesce(bool_or(t::text LIKE '%' || $1 || '%'), false) FROM `+table+` t`, token.Reveal()[8:]).Scan(&holds)
		if err != nil || holds {
			t.Errorf("%s: holds the token: %v, %v", table, holds, err)
		}
	}
}

func TestRevokingIsDoneOnce(t *testing.T) {
	c := newClub(t)
	id, token := c.invite(3, 0)
	in := []*directorytest.Node{c.node(), c.node()}
	for _, n := range in {
		c.wants("coming in", c.come(n, token), "")
	}
	blocked, err := c.desk.Revoke(t.Context(), id, true, audit.By{Who: "alice", Why: "leaked"})
	want := []string{in[0].AID(), in[1].AID()}
	slices.Sort(want)
	if err != nil || !slices.Equal(blocked, want) {
		t.Errorf("blocked %v, %v, want %v", blocked, err, want)
	}
	before, _, _ := c.desk.Show(t.Context(), id)
	c.clock.advance(time.Hour)
	_, err = c.desk.Revoke(t.Context(), id, true, audit.By{})
	c.wants("again", err, "invite_revoked")
	after, _, _ := c.desk.Show(t.Context(), id)
	if !after.RevokedAt.Equal(before.RevokedAt) {
		t.Errorf("revoked at %s, then at %s", before.RevokedAt, after.RevokedAt)
	}
	for _, unknown := range []string{"aaaaaaaa", "no id", "", token.Reveal()} {
		_, err := c.desk.Revoke(t.Context(), unknown, false, audit.By{})
		c.wants("an id of nobody", err, "invite_unknown")
	}
	acts := c.acts()
	if got := acts[0]; got.What != "invite.revoke" || got.Target != id || got.Who != "alice" || got.Why != "leaked" {
		t.Errorf("the last act is %+v", got)
	}
	if len(acts) != 4 { // it was made, two were blocked, it was revoked; what failed is no act
		t.Errorf("%d acts: %+v", len(acts), acts)
	}
}

// A block that ends is not what was asked for: it would let in again who came by an
// invite that leaked. One for good stays as it was.
func TestRevokingBlocksForGood(t *testing.T) {
	c := newClub(t)
	id, token := c.invite(3, 0)
	soon, never, other := c.node(), c.node(), c.node()
	for _, n := range []*directorytest.Node{soon, never, other} {
		c.wants("coming in", c.come(n, token), "")
	}
	o := c.operator()
	c.wants("a block for an hour", o.block("aid", soon.AID(), time.Hour), "")
	c.wants("a block for good", o.block("aid", never.AID(), 0), "")
	_, came, err := c.desk.Show(t.Context(), id)
	for _, r := range came {
		if err != nil || r.Blocked != (r.AID != other.AID()) || r.ForGood != (r.AID == never.AID()) {
			t.Errorf("before: %+v, %v", r, err)
		}
	}
	blocked, err := c.desk.Revoke(t.Context(), id, true, alice)
	want := []string{soon.AID(), other.AID()}
	slices.Sort(want)
	if err != nil || !slices.Equal(blocked, want) {
		t.Errorf("blocked %v, %v, want %v", blocked, err, want)
	}
	c.clock.advance(2 * time.Hour)
	for _, n := range []*directorytest.Node{soon, never, other} {
		wantReason(t, "after the hour", c.come(n, token), "blocked")
	}
}

func (c *club) acts() []audit.Act {
	c.t.Helper()
	acts, err := NewAudit(c.pool).Acts(c.t.Context(), audit.Question{Limit: 100})
	if err != nil {
		c.t.Fatal(err)
	}
	return acts
}
