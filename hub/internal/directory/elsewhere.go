package directory

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/wire"
)

// Elsewhere is an agent that is registered at another hub, as a peer told of it
// and its own signature proves (wire 2, J.4).
type Elsewhere struct {
	AID      string
	Card     CardFacts
	Older    bool // known by an older card alone, whose ids are no skills
	Summary  string
	Home     string // base URL of its hub
	TaughtAt time.Time
	Rating   Rating // of reviews that were taken in here
}

// NewElsewhere takes from a verified network card what lists show of an agent of
// another hub. What the card says of its hub counts more than what a peer says.
func NewElsewhere(v *card.Verified, c *AdmittedCard, home string) Elsewhere {
	own, ok := hubURL(v.Card.HubBase())
	if !ok {
		own = home
	}
	return Elsewhere{AID: v.AID, Card: c.Facts, Summary: shortened(v.Card.Description), Home: own}
}

// NewOlderElsewhere does the same with an older card, which says nothing of hubs.
func NewOlderElsewhere(c *adp.Card, home string) Elsewhere {
	e := Elsewhere{AID: c.Subject, Older: true, Summary: shortened(c.Description), Home: home}
	e.Card.Name = printable(c.Name)
	e.Card.Skills, _ = capability.Keep(c.Capabilities[:min(len(c.Capabilities), wire.MaxCaps)])
	return e
}

// maxHome is the longest address of a hub that lists repeat.
const maxHome = 256

// HomeOf is where a peer says that an agent is at home, or else the peer itself.
func HomeOf(told, endpoint string) string {
	if base, ok := hubURL(strings.TrimRight(told, "/")); ok {
		return base
	}
	return endpoint
}

// hubURL lets nothing through that a page could not link to.
func hubURL(base string) (string, bool) {
	u, err := url.Parse(base)
	ok := err == nil && len(base) <= maxHome && utf8.ValidString(base) &&
		(u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
	return base, ok
}

// shortened is a description within the bounds of a summary.
func shortened(s string) string {
	s = printable(s)
	if len(s) <= maxSummary {
		return s
	}
	s = s[:maxSummary]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// Caps is everything ?cap= finds the agent by, sorted and never nil.
func (e Elsewhere) Caps() []string {
	caps := append([]string{}, e.Card.Skills...)
	slices.Sort(caps)
	return slices.Compact(caps)
}

// Name is what lists call the agent.
func (e Elsewhere) Name() string { return cmp.Or(e.Card.Name, card.DefaultName(e.AID)) }

// Listed reports whether the agent offers something.
func (e Elsewhere) Listed() bool { return len(e.Card.Skills) > 0 || e.Summary != "" }

// Search is the text that ?q= looks into.
func (e Elsewhere) Search() string {
	fields := append([]string{e.AID, e.Name(), e.Summary}, e.Card.Skills...)
	return Fold(strings.Join(fields, searchSeparator))
}

// behind is added to the rank of agents of other hubs: those of this one are all
// before it.
const behind = 1_000_000_000

// Place is where lists show the agent: as its rating says, behind all who are
// registered here.
func (e Elsewhere) Place() Place {
	p := rank(e.Rating)
	p.Rating += behind
	p.RegisteredAt, p.AID = e.TaughtAt, e.AID
	return p
}

// Elsewhere reports whether the agent at a place is one of another hub.
func (p Place) Elsewhere() bool { return p.Rating >= behind/2 }

// View is the agent as it is shown. Since when it is registered at its hub is not
// told; the time is since when this one knows of it. Its signs of life are known
// there as well.
func (e Elsewhere) View() wire.Agent {
	v := wire.Agent{
		AID: e.AID, Name: e.Name(), Caps: e.Caps(), Summary: e.Summary, Listed: e.Listed(),
		AvgRating: e.Rating.Mean(), ReviewCount: e.Rating.Count,
		RegisteredAt: e.TaughtAt.UTC(), HomeHub: e.Home,
	}
	if e.Older {
		v.Tags = e.Caps()
	}
	return v
}

// Rendered is the view, made once when the row is written.
func (e Elsewhere) Rendered() ([]byte, error) { return render(e.View()) }

// Taught is a peer that tells of an agent, and whether lists show what it says.
type Taught struct {
	Peer   string // its short name
	Shown  bool
	Listed bool   // lists show what this peer teaches
	Stale  bool   // what it says was signed under a history that has grown since
	Held   string // why its entry is not taken for now; empty: it was taken
}
