package web

import (
	"fmt"
	"time"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/wire"
)

// Agent is everything this hub tells of one.
type Agent struct {
	Site
	Entry
	Readme, Pricing string
	Member          bool // registered, not departed
	Note            string
	Issued          Moment // of the card
	Skills          []Skill
	Tags            []Cap
	Registered      Moment
	Seen            Moment
	Calls, Looks    []Command
	Reviews         []Review // the latest
}

// Somewhere reports whether the agent is at home at a hub, this one or another, so
// that a call can reach it.
func (a Agent) Somewhere() bool { return a.Member || a.HomeHub != nil }

// Skill is a capability as the card describes it.
type Skill struct {
	Cap
	Listed            bool // the directory finds the agent by it
	Name, Description string
	Tags, Examples    []string
}

// Command is a line for a terminal and what it does.
type Command struct{ Does, Run string }

// NewAgent shows an agent, with its card where it has one.
func NewAgent(s Site, v wire.Agent, note string, c *card.Statement, now time.Time) Agent {
	a := Agent{
		Site: s, Entry: entryOf(v, capability.Expr{}), Note: note, Member: v.Registered,
		Readme: plain.Text(v.Readme), Pricing: plain.Text(v.Pricing), Registered: momentOf(v.RegisteredAt, now),
	}
	if a.HomeHub != nil {
		a.Note = "Registered at another hub, which told this one of it" // in words of a page
	}
	if v.LastSeen != nil {
		a.Seen = momentOf(*v.LastSeen, now)
	}
	for _, id := range v.Tags {
		a.Tags = append(a.Tags, capOf(id, true, false))
	}
	if c != nil {
		a.Signed, a.Issued = true, momentOf(time.UnixMilli(c.IssuedAt), now)
		a.Skills = skillsOf(c.Card.Skills, v.Caps)
	}
	a.Calls, a.Looks = calls(v), looks(s, v, a.Signed)
	return a
}

// skillsOf describes what a card offers. An id that cannot be asked for is on no
// list, and shown without a way to it.
func skillsOf(skills []card.Skill, listed []string) []Skill {
	out, found := make([]Skill, 0, len(skills)), setOf(listed)
	for _, s := range skills {
		skill := Skill{
			Cap: capOf(s.ID, false, false), Listed: found[s.ID],
			Description: plain.Text(s.Description), Tags: lines(s.Tags), Examples: lines(s.Examples),
		}
		if s.Name != s.ID {
			skill.Name = plain.Line(s.Name)
		}
		out = append(out, skill)
	}
	return out
}

func lines(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = plain.Line(s)
	}
	return out
}

// chat is the skill that takes text.
var chat = card.ChatSkill().ID

// shownCalls is how many calls a page spells out: they differ in the id alone.
const shownCalls = 3

// calls are commands that have the agent work. Ids outside a node's own alphabet
// stand in none: a command is there to be pasted into a shell. Nor does a tag
// beside a card, which is a word to be found by.
func calls(v wire.Agent) (out []Command) {
	tags := setOf(v.Tags)
	carded := len(v.Tags) < len(v.Caps)
	for _, id := range v.Caps {
		switch {
		case !v.Registered && v.HomeHub == "", len(out) == shownCalls:
			return out
		case tags[id] && carded, !capability.ValidID(id):
		case id == chat:
			out = append(out, Command{"Write to it", fmt.Sprintf(`anet delegate %s "…" --wait 5m`, v.AID)})
		default:
			out = append(out, Command{"Call " + id, fmt.Sprintf("anet delegate %s \\\n  --capability %s --args '{}' --wait 30s", v.AID, id)})
		}
	}
	return out
}

// looks are commands that read what this page is made of.
func looks(s Site, v wire.Agent, carded bool) []Command {
	out := []Command{{"This page as JSON", "curl " + quote(s.URL+"/agents/"+v.AID)}}
	if carded {
		out = append(out, Command{"Its signed card", "curl " + quote(s.URL+"/a2a/v1/agents/"+v.AID+"/card")})
	}
	return append(out, Command{"Its key history, which proves the signatures", "curl " + quote(s.URL+"/agents/"+v.AID+"/kel")})
}

var agentPage = page("agent.html")

// HTML implements Page.
func (a Agent) HTML() ([]byte, error) { return render(agentPage, a) }
