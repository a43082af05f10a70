package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/plain"
)

// inviteView is an invite as --json prints it.
type inviteView struct {
	ID        string          `json:"id"`
	State     admission.State `json:"state"`
	Label     string          `json:"label"`
	MaxUses   int             `json:"max_uses"` // 0: any number
	Uses      int             `json:"uses"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt *time.Time      `json:"expires_at"` // null: never
	RevokedAt *time.Time      `json:"revoked_at"`
}

func (p *Program) view(i admission.Invite) inviteView {
	return inviteView{i.ID, i.State(p.Now()), i.Label, i.MaxUses, i.Uses, i.CreatedAt.UTC(), orNull(i.ExpiresAt), orNull(i.RevokedAt)}
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (v inviteView) text(w io.Writer) {
	fmt.Fprintf(w, "invite\t%s\nstate\t%s\nuses\t%s\nexpires\t%s\nlabel\t%s\n", v.ID, v.State, v.used(), v.expires(), plain.Line(orDash(v.Label)))
	if v.RevokedAt != nil {
		fmt.Fprintf(w, "revoked\t%s\n", when(*v.RevokedAt))
	}
}

func (v inviteView) used() string {
	if v.MaxUses == 0 {
		return fmt.Sprintf("%d of any number", v.Uses)
	}
	return fmt.Sprintf("%d of %d", v.Uses, v.MaxUses)
}

func (v inviteView) expires() string {
	if v.ExpiresAt == nil {
		return "never"
	}
	return when(*v.ExpiresAt)
}

// showNew is the one place that prints a token.
func (p *Program) showNew(i admission.Invite, token admission.Token, path string) error {
	v := struct {
		inviteView
		Token string `json:"token,omitempty"`
		File  string `json:"file,omitempty"`
	}{p.view(i), token.Reveal(), path}
	if path != "" {
		v.Token = ""
	}
	return p.show(v, func(w io.Writer) {
		v.text(w)
		if path != "" {
			fmt.Fprintf(w, "token\tin %s\n", plain.Line(path))
			return
		}
		fmt.Fprintln(w, v.Token)
	})
}

func (p *Program) showInvites(list []admission.Invite) error {
	views := make([]inviteView, len(list))
	for i, invite := range list {
		views[i] = p.view(invite)
	}
	return p.show(map[string]any{"invites": views}, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSTATE\tUSES\tEXPIRES\tCREATED\tLABEL")
		for _, v := range views {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.State, v.used(), v.expires(), when(v.CreatedAt), plain.Line(orDash(v.Label)))
		}
	})
}

// redeemerView is who came in, as --json prints it.
type redeemerView struct {
	AID    string    `json:"aid"`
	At     time.Time `json:"at"`
	Name   string    `json:"name"`
	Status string    `json:"status"` // registered, blocked or left
}

func redeemers(came []admission.Redeemer) []redeemerView {
	views := make([]redeemerView, len(came))
	for i, r := range came {
		status := "registered"
		switch {
		case r.Blocked:
			status = "blocked"
		case !r.Registered:
			status = "left"
		}
		views[i] = redeemerView{r.AID, r.At.UTC(), r.Name, status}
	}
	return views
}

func listRedeemers(w io.Writer, came []redeemerView) {
	for _, r := range came {
		fmt.Fprintf(w, "came in\t%s\t%s\t%s\t%s\n", when(r.At), r.AID, r.Status, plain.Line(orDash(r.Name)))
	}
}

func (p *Program) showInvite(i admission.Invite, came []admission.Redeemer) error {
	v := struct {
		inviteView
		Redeemers []redeemerView `json:"redeemers"`
	}{p.view(i), redeemers(came)}
	return p.show(v, func(w io.Writer) {
		v.text(w)
		listRedeemers(w, v.Redeemers)
	})
}

// showCheck prints what a holder of the token may know.
func (p *Program) showCheck(i *admission.Invite, refused error) error {
	v := struct {
		Usable bool        `json:"usable"`
		Code   string      `json:"code,omitempty"`
		Error  string      `json:"error,omitempty"`
		Invite *inviteView `json:"invite"` // null when there is none
	}{Usable: refused == nil}
	if i != nil {
		view := p.view(*i)
		v.Invite = &view
	}
	if e := errs.As(refused); e != nil {
		v.Code, v.Error = e.Reason, e.Message
	}
	err := p.show(v, func(w io.Writer) {
		if v.Invite != nil {
			v.Invite.text(w)
		}
	})
	if err == nil && refused != nil {
		return cmdline.Ran(answer{refused})
	}
	return err
}

// plan is what a revocation would do.
type plan struct {
	ID    string         `json:"id"`
	Came  []redeemerView `json:"redeemers"`
	Block int            `json:"would_block"`
}

func planOf(i admission.Invite, came []admission.Redeemer, block bool) plan {
	v := plan{ID: i.ID, Came: redeemers(came)}
	for _, r := range came {
		if block && !r.ForGood {
			v.Block++
		}
	}
	return v
}

func (v plan) text(w io.Writer) {
	fmt.Fprintf(w, "invite\t%s\n", v.ID)
	listRedeemers(w, v.Came)
}

func (v plan) question() string {
	switch {
	case len(v.Came) == 0:
		return fmt.Sprintf("Revoke the invite %s? Nobody came in by it.", v.ID)
	case v.Block == 0:
		return fmt.Sprintf("Revoke the invite %s? The %d who came in by it stay.", v.ID, len(v.Came))
	}
	return fmt.Sprintf("Revoke the invite %s and block %d of the %d who came in by it?", v.ID, v.Block, len(v.Came))
}

func (p *Program) showRevoked(id string, blocked []string) error {
	if blocked == nil {
		blocked = []string{}
	}
	v := map[string]any{"id": id, "status": "revoked", "blocked": blocked}
	return p.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "revoked\t%s\n", id)
		for _, aid := range blocked {
			fmt.Fprintf(w, "blocked\t%s\n", aid)
		}
	})
}
