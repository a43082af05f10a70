package directory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/shared/identity"
)

var testNow = time.UnixMilli(1_767_225_600_000).UTC()

// aidOf makes an AID that sorts by n.
func aidOf(n int) string {
	digits := strings.NewReplacer("0", "a", "1", "b", "8", "y", "9", "z").Replace(fmt.Sprintf("%05d", n))
	aid := "b" + strings.Repeat("a", 53) + digits
	if !identity.ValidAID(aid) {
		panic(aid)
	}
	return aid
}

// memory is a directory in memory that keeps the contract of Lists.
type memory struct {
	Store
	agents []Agent
	seen   map[string]time.Time
	looked int
	onStep func()
}

func (m *memory) step(places []Place, answers func(Place, Agent) bool, after Place, n, most int, order func(a, b Place) int) (Step, error) {
	if m.onStep != nil {
		m.onStep()
	}
	slices.SortFunc(places, order)
	var st Step
	for _, p := range places {
		if order(p, after) <= 0 {
			continue
		}
		if st.Looked == n {
			break
		}
		st.Looked++
		row := Row{Place: p, LastSeen: m.seen[p.AID]}
		a := m.agents[slices.IndexFunc(m.agents, func(a Agent) bool { return a.AID == p.AID })]
		if answers(p, a) {
			row.View, _ = a.Rendered()
		}
		st.Rows = append(st.Rows, row)
		if most -= len(row.View); most < 0 {
			st.Looked = n
			break
		}
	}
	m.looked += st.Looked
	return st, nil
}

func (m *memory) Ranked(_ context.Context, caps []string, after Place, n, most int) (Step, error) {
	var places []Place
	for _, a := range m.agents {
		if slices.ContainsFunc(caps, func(c string) bool {
			return c == "" && len(a.Caps()) > 0 || slices.Contains(a.Caps(), c)
		}) {
			places = append(places, a.Place())
		}
	}
	return m.step(places, func(Place, Agent) bool { return true }, after, n, most, ByRank)
}

func (m *memory) Search(_ context.Context, text string, after Place, n, most int) (Step, error) {
	var places []Place
	for _, a := range m.agents {
		if a.Listed() {
			places = append(places, a.Place())
		}
	}
	return m.step(places, func(_ Place, a Agent) bool { return strings.Contains(a.Search(), text) }, after, n, most, ByRank)
}

func (m *memory) InRange(_ context.Context, ranges []Range, i int, after Place, n, most int) (Step, error) {
	var places []Place
	for _, a := range m.agents {
		for _, c := range a.Caps() {
			p := a.Place()
			if p.Cap = c; c < ranges[i].Until {
				places = append(places, p)
			}
		}
	}
	smallest := func(p Place, a Agent) bool {
		for _, c := range a.Caps() {
			for _, r := range ranges {
				if c >= r.From && c < r.Until {
					return c == p.Cap
				}
			}
		}
		return false
	}
	return m.step(places, smallest, after, n, most, byCapability)
}

func byCapability(a, b Place) int {
	if c := strings.Compare(a.Cap, b.Cap); c != 0 {
		return c
	}
	return ByRank(a, b)
}

// usual is a hub that was never away.
type usual struct{ Lives }

func (usual) Ages() Ages                    { return UsualAges }
func (usual) Horizon(now time.Time) Horizon { return UsualAges.Horizon(now) }

// agent makes an agent; it is registered n seconds after testNow.
func agent(n int, caps ...string) Agent {
	return Agent{AID: aidOf(n), Name: fmt.Sprintf("agent %d", n), Tags: caps, Visibility: HubLocal,
		RegisteredAt: testNow.Add(time.Duration(n) * time.Second)}
}

func newMemory(agents ...Agent) (*Directory, *memory) {
	m := &memory{agents: agents, seen: map[string]time.Time{}}
	return New(m, usual{}, admission.Door{}, nil, func() time.Time { return testNow.Add(time.Hour) }), m
}
