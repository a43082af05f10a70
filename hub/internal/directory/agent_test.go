package directory

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

func TestCapsAndTags(t *testing.T) {
	for _, c := range []struct {
		why               string
		tags, skills      []string
		caps, unsigned    []string
		listed, withCards bool
	}{
		{"nothing", nil, nil, []string{}, []string{}, false, false},
		{"without a card all is the registration's word", []string{"b", "a"}, nil, []string{"a", "b"}, []string{"a", "b"}, true, false},
		{"a card's skills are no tags", []string{"digest", "text.digest"}, []string{"text.digest"}, []string{"digest", "text.digest"}, []string{"digest"}, true, true},
		{"skills alone", nil, []string{"x"}, []string{"x"}, []string{}, true, true},
	} {
		a := Agent{Tags: c.tags, Card: CardFacts{Skills: c.skills}}
		if got := a.Caps(); !slices.Equal(got, c.caps) || got == nil {
			t.Errorf("%s: caps %v, want %v", c.why, got, c.caps)
		}
		if got := a.UnsignedCaps(); !slices.Equal(got, c.unsigned) {
			t.Errorf("%s: tags %v, want %v", c.why, got, c.unsigned)
		}
		if a.Listed() != c.listed {
			t.Errorf("%s: listed = %v", c.why, a.Listed())
		}
	}
	if !(Agent{Profile: Profile{Summary: "x"}}).Listed() {
		t.Error("who says something of itself is not listed")
	}
}

func TestTheCardNamesTheAgent(t *testing.T) {
	a := Agent{Name: "by registration"}
	if a.DisplayName() != "by registration" {
		t.Errorf("without a card: %q", a.DisplayName())
	}
	a.Card.Name = "by card"
	if a.DisplayName() != "by card" {
		t.Errorf("with a card: %q", a.DisplayName())
	}
}

// What is spliced into a rendered view must be what encoding the whole gives.
func TestRenderedViewsAreCompletedInPlace(t *testing.T) {
	a := agent(1, "text.digest")
	a.Profile = Profile{Summary: "a <b> & c", Readme: strings.Repeat("long ", 100), Pricing: "free"}
	rendered, err := a.Rendered()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Life{
		{RegisteredAt: a.RegisteredAt},
		{RegisteredAt: a.RegisteredAt, LastSeen: testNow.Add(time.Minute + 123*time.Microsecond)},
		{RegisteredAt: a.RegisteredAt, LastSeen: testNow.Add(5 * time.Hour)},
	} {
		now := UsualAges.Horizon(testNow.Add(5 * time.Hour))
		got := string(appendLive(nil, rendered, l, now))
		v := a.View()
		v.Readme = ""
		l.Show(&v, now)
		var back, want wire.Agent
		whole, _ := json.Marshal(v)
		_ = json.Unmarshal(whole, &want)
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		again, _ := json.Marshal(back)
		if string(again) != string(whole) {
			t.Errorf("%+v: %s, want %s", l, again, whole)
		}
		if len(got) > len(rendered)+liveRoom {
			t.Errorf("%d bytes were added, want at most %d", len(got)-len(rendered), liveRoom)
		}
		if !strings.Contains(got, "a <b> & c") {
			t.Errorf("%s is escaped for HTML", got)
		}
	}
}

func TestLife(t *testing.T) {
	day, usualNow := 24*time.Hour, UsualAges.Horizon(testNow)
	for _, c := range []struct {
		why              string
		registered, seen time.Duration // ago; seen < 0 for never
		browsable, quiet bool
	}{
		{"just registered", 0, -1, true, false},
		{"registered an hour ago, never polled", time.Hour, -1, true, true},
		{"polled a minute ago", 60 * day, time.Minute, true, false},
		{"polled an hour ago", 60 * day, time.Hour, true, true},
		{"just within thirty days", 60 * day, 30*day - time.Second, true, true},
		{"thirty days", 60 * day, 30 * day, false, true},
		{"never polled for thirty days", 30 * day, -1, false, true},
	} {
		l := Life{RegisteredAt: testNow.Add(-c.registered)}
		if c.seen >= 0 {
			l.LastSeen = testNow.Add(-c.seen)
		}
		if l.Browsable(usualNow) != c.browsable || l.Quiet(usualNow) != c.quiet {
			t.Errorf("%s: browsable %v, quiet %v", c.why, l.Browsable(usualNow), l.Quiet(usualNow))
		}
	}
}

func TestPlaceOrdersByRatingReviewsAge(t *testing.T) {
	best := rated(agent(9), 10, 2)
	more := rated(agent(8), 8, 2)
	fewer := rated(agent(1), 4, 1)
	unrated, younger := agent(2), agent(3)
	want := []Agent{best, more, fewer, unrated, younger}
	got := []Agent{younger, fewer, unrated, more, best}
	slices.SortFunc(got, func(a, b Agent) int { return ByRank(a.Place(), b.Place()) })
	for i := range want {
		if got[i].AID != want[i].AID {
			t.Errorf("place %d: %s, want %s", i, got[i].Name, want[i].Name)
		}
	}
}
