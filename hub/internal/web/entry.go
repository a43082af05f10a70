package web

import (
	"fmt"
	"strings"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/wire"
)

// shownCaps is how many capabilities a list shows of one agent: it may have 256.
const shownCaps = 8

// Entry is an agent in a list.
type Entry struct {
	AID, Name, Summary string
	HomeHub            *Home // nil where it is this hub
	Path               string
	Caps               []Cap
	More               int // capabilities left out
	Signed             bool
	Quiet              bool
	Rating             Rating
}

// Cap is a capability an agent is found by. A tag stands on no card: nothing but
// the registration says it.
type Cap struct {
	ID, Path string
	Tag      bool
	Asked    bool // the question looked for it
}

// Rating is what reviews say.
type Rating struct {
	Mean  float64
	Count int64
}

// String is empty without reviews.
func (r Rating) String() string {
	switch r.Count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.1f of 5 from one review", r.Mean)
	}
	return fmt.Sprintf("%.1f of 5 from %d reviews", r.Mean, r.Count)
}

func entryOf(v wire.Agent, asked capability.Expr) Entry {
	caps := capsOf(v, asked)
	return Entry{
		AID: v.AID, Name: nameOf(v), Summary: plain.Line(v.Summary), HomeHub: homeOf(v.HomeHub), Path: "/a/" + v.AID,
		Caps: caps, More: len(v.Caps) - len(caps),
		Signed: len(v.Tags) < len(v.Caps), Quiet: v.Quiet, Rating: Rating{v.AvgRating, v.ReviewCount},
	}
}

// nameOf is never blank, so that there is something to follow.
func nameOf(v wire.Agent) string {
	if name := strings.TrimSpace(plain.Line(v.Name)); name != "" {
		return name
	}
	return card.DefaultName(v.AID)
}

// capsOf are the capabilities a list shows: first what was asked for, then what
// the card vouches for.
func capsOf(v wire.Agent, asked capability.Expr) []Cap {
	ranked, tags := [3][]string{}, setOf(v.Tags)
	for _, id := range v.Caps {
		r := rank(asked.Match(id), tags[id])
		ranked[r] = append(ranked[r], id)
	}
	caps := make([]Cap, 0, shownCaps)
	for r, ids := range ranked {
		for _, id := range ids[:min(len(ids), shownCaps-len(caps))] {
			caps = append(caps, capOf(id, tags[id], r == 0))
		}
	}
	return caps
}

func rank(asked, tag bool) int {
	switch {
	case asked:
		return 0
	case !tag:
		return 1
	}
	return 2
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func capOf(id string, tag, asked bool) Cap {
	return Cap{ID: plain.Line(id), Path: Question{ByCap: true, Cap: id}.path(""), Tag: tag, Asked: asked}
}
