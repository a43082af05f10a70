package directory

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// Agent is a registration in force.
type Agent struct {
	AID          string
	Name         string   // as the registration says it
	Tags         []string // capability ids of the registration
	Card         CardFacts
	Profile      Profile
	Visibility   Visibility
	RegisteredAt time.Time // of the first registration since the AID was last away
	Rating       Rating
	Blocked      bool // by the hub's operator: refused, and in no list
	Hidden       bool // by the hub's operator: in no list
	Away         bool // not heard of for so long that lists leave it out
}

// CardFacts is what the directory reads in the admitted network card. The zero
// value stands for no card.
type CardFacts struct {
	Name   string
	Skills []string // the skill ids that can be asked for
}

// Profile is what an agent says of itself to people.
type Profile struct {
	Summary, Readme, Pricing string
}

// IsZero reports whether the profile says nothing.
func (p Profile) IsZero() bool { return p == Profile{} }

// Rating is the sum and the number of an agent's reviews.
type Rating struct{ Sum, Count int64 }

// Mean is the average rating, 0 without reviews.
func (r Rating) Mean() float64 {
	if r.Count == 0 {
		return 0
	}
	return float64(r.Sum) / float64(r.Count)
}

// DisplayName is the card's name where there is a card (wire 2, I.3).
func (a Agent) DisplayName() string {
	if a.Card.Name != "" {
		return a.Card.Name
	}
	return a.Name
}

// Caps is everything ?cap= finds the agent by, sorted. It is never nil: clients
// expect a list.
func (a Agent) Caps() []string {
	caps := append(append([]string{}, a.Tags...), a.Card.Skills...)
	slices.Sort(caps)
	return slices.Compact(caps)
}

// UnsignedCaps is the part of Caps that no card vouches for.
func (a Agent) UnsignedCaps() []string {
	return slices.DeleteFunc(a.Caps(), a.IsSkill)
}

// IsSkill reports whether the card offers id.
func (a Agent) IsSkill(id string) bool { return slices.Contains(a.Card.Skills, id) }

// Listed reports whether the agent offers something: lists of everybody leave
// out who only receives.
func (a Agent) Listed() bool {
	return !a.Blocked && !a.Hidden && a.offers()
}

// Shown reports whether lists may show the agent at all.
func (a Agent) Shown() bool { return !a.Blocked && !a.Hidden && !a.Away }

// InLists reports whether lists of everybody show the agent.
func (a Agent) InLists() bool { return a.Listed() && a.Shown() }

func (a Agent) offers() bool {
	return len(a.Tags) > 0 || len(a.Card.Skills) > 0 || !a.Profile.IsZero()
}

// Place is where lists show the agent.
func (a Agent) Place() Place {
	p := rank(a.Rating)
	p.RegisteredAt, p.AID = a.RegisteredAt, a.AID
	return p
}

// rank is the part of a place that a rating decides.
func rank(r Rating) Place {
	return Place{
		Rating:  -int32(math.Round(r.Mean() * 1e6)),
		Reviews: -int32(min(r.Count, math.MaxInt32)),
	}
}

// searchSeparator keeps a search from matching across two fields.
const searchSeparator = "\x1f"

// Search is the text that ?q= looks into.
func (a Agent) Search() string {
	fields := append([]string{a.AID, a.DisplayName(), a.Profile.Summary, a.Profile.Readme}, a.Caps()...)
	return Fold(strings.Join(fields, searchSeparator))
}

// Fold makes texts comparable whatever their case. What is stored and what is
// asked for go through it alike.
func Fold(s string) string { return strings.ToLower(s) }

// View is the agent as it is shown, without its signs of life.
func (a Agent) View() wire.Agent {
	return wire.Agent{
		AID: a.AID, Name: a.DisplayName(), Caps: a.Caps(), Tags: a.UnsignedCaps(),
		Summary: a.Profile.Summary, Readme: a.Profile.Readme, Pricing: a.Profile.Pricing,
		Listed: a.Listed(), AvgRating: a.Rating.Mean(), ReviewCount: a.Rating.Count,
		RegisteredAt: a.RegisteredAt.UTC(), Registered: true,
	}
}
