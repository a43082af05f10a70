package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/plain"
)

// agentView is an agent as --json prints it.
type agentView struct {
	AID          string     `json:"aid"`
	Name         string     `json:"name"`
	Status       string     `json:"status"` // registered or left
	Caps         int        `json:"caps"`
	FirstSeenAt  time.Time  `json:"first_seen_at"`
	RegisteredAt *time.Time `json:"registered_at"`
	LastSeen     *time.Time `json:"last_seen"`
	Away         bool       `json:"away"`
	HiddenAt     *time.Time `json:"hidden_at"` // null: not hidden
	Block        *blockView `json:"block"`     // null: not blocked
	Messages     int64      `json:"messages"`  // waiting
	Bytes        int64      `json:"bytes"`
}

func viewAgent(s moderation.Standing) agentView {
	v := agentView{
		AID: s.AID, Name: s.Name, Status: "left", Caps: s.Caps, FirstSeenAt: s.FirstSeen.UTC(), RegisteredAt: orNull(s.RegisteredAt),
		LastSeen: orNull(s.LastSeen), Away: s.Away, HiddenAt: orNull(s.HiddenAt), Messages: s.Mail, Bytes: s.Bytes,
	}
	if s.Registered {
		v.Status = "registered"
	}
	if s.Block != nil {
		b := viewBlock(*s.Block)
		v.Block = &b
	}
	return v
}

// states are in words what keeps lists from showing it.
func (v agentView) states() string {
	words := []string{v.Status}
	if v.Block != nil {
		words = append(words, "blocked")
	}
	if v.HiddenAt != nil {
		words = append(words, "hidden")
	}
	if v.Away {
		words = append(words, "away")
	}
	return strings.Join(words, ", ")
}

func (v agentView) heard() string {
	if v.LastSeen == nil {
		return "-"
	}
	return when(*v.LastSeen)
}

func (v agentView) text(w io.Writer) {
	fmt.Fprintf(w, "agent\t%s\nname\t%s\nstate\t%s\nids\t%d\nhere since\t%s\nlast heard of\t%s\nwaiting mail\t%d messages, %d bytes\n",
		v.AID, plain.Line(orDash(v.Name)), v.states(), v.Caps, when(v.FirstSeenAt), v.heard(), v.Messages, v.Bytes)
	if v.HiddenAt != nil {
		fmt.Fprintf(w, "hidden\tsince %s\n", when(*v.HiddenAt))
	}
	if v.Block != nil {
		fmt.Fprintf(w, "blocked\tuntil %s\nreason\t%s\n", v.Block.until(), plain.Line(orDash(v.Block.Reason)))
	}
}

func (p *Program) showAgents(list []moderation.Standing, more bool) error {
	views := make([]agentView, len(list))
	for i, s := range list {
		views[i] = viewAgent(s)
	}
	next := ""
	if more {
		next = list[len(list)-1].AID
	}
	err := p.show(map[string]any{"agents": views, "next_after": next}, func(w io.Writer) {
		fmt.Fprintln(w, "AID\tSTATE\tIDS\tMAIL\tLAST HEARD OF\tNAME")
		for _, v := range views {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\n", v.AID, v.states(), v.Caps, v.Messages, v.heard(), plain.Line(orDash(v.Name)))
		}
	})
	if err == nil && more && !p.json {
		cmdline.Note(p.Err, "There may be more: go on with --after %s", next)
	}
	return err
}

// removal is what a removal would do.
type removal struct{ agentView }

func (r removal) question() string {
	return fmt.Sprintf("Remove %s (%s)? %d waiting messages are deleted.", r.AID, plain.Line(orDash(r.Name)), r.Messages)
}
