package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

func askCap(t *testing.T, value string) Question {
	t.Helper()
	q, err := AskCap(value)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func askText(t *testing.T, value string) Question {
	t.Helper()
	q, err := AskText(value)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func plenty(int64) error { return nil }

// names reads a page.
func names(t *testing.T, p Page) []string {
	t.Helper()
	var out []string
	for _, v := range views(t, p) {
		out = append(out, strings.TrimPrefix(v.Name, "agent "))
	}
	return out
}

func views(t *testing.T, p Page) (out []wire.Agent) {
	t.Helper()
	if err := json.Unmarshal([]byte("["+string(p.AppendViews(nil))+"]"), &out); err != nil || len(out) != p.Count {
		t.Fatalf("%d views in %s: %v", p.Count, p.AppendViews(nil), err)
	}
	return out
}

// pages walks a question to its end.
func pages(t *testing.T, d *Directory, q Question, limit int) (all [][]string) {
	t.Helper()
	for cursor := ""; ; {
		p, err := d.List(context.Background(), q, limit, cursor, plenty)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names(t, p))
		if cursor = p.Next; cursor == "" {
			return all
		}
		if len(all) > 1000 {
			t.Fatal("the list has no end")
		}
	}
}

func rated(a Agent, sum, count int64) Agent {
	a.Rating = Rating{sum, count}
	return a
}

// Number 42: what ?cap= and ?q= find.
func TestListAnswers(t *testing.T) {
	d, _ := newMemory(
		agent(1, "text.digest", "digest"), agent(2, "text.digest"), rated(agent(3, "text.wordcount"), 9, 2),
		rated(agent(4, "a_c.one", "text.a"), 5, 1), agent(5, "abc.one"), agent(6, "a%c.one"),
		Agent{AID: aidOf(7), Name: "agent 7", RegisteredAt: testNow.Add(7 * time.Second)},
		Agent{AID: aidOf(8), Name: "agent 8", RegisteredAt: testNow.Add(8 * time.Second), Profile: Profile{Summary: "Digests by hand"}},
	)
	for _, c := range []struct {
		why  string
		q    Question
		want []string
	}{
		{"exact", askCap(t, "text.digest"), []string{"1", "2"}},
		{"exact is not a text search", askCap(t, "dig"), nil},
		{"case counts", askCap(t, "TEXT.DIGEST"), nil},
		{"a tag is found like a skill", askCap(t, "digest"), []string{"1"}},
		{"alternatives in the order of ranks", askCap(t, "abc.one,text.a"), []string{"4", "5"}},
		{"an agent that offers both is one", askCap(t, "digest,text.digest"), []string{"1", "2"}},
		{"a prefix on one page is in the order of ranks", askCap(t, "text.*"), []string{"4", "3", "1", "2"}},
		{"underscore is literal", askCap(t, "a_c.*"), []string{"4"}},
		{"percent is literal", askCap(t, "a%c.*"), []string{"6"}},
		{"percent alone begins no id here", askCap(t, "%*"), nil},
		{"a prefix and an id", askCap(t, "abc.*,digest"), []string{"1", "5"}},
		{"a lone star is everyone who offers something", askCap(t, "*"), []string{"4", "3", "1", "2", "5", "6"}},
		{"no words list who is listed", askText(t, ""), []string{"4", "3", "1", "2", "5", "6", "8"}},
		{"words, whatever their case", askText(t, "DIGEST"), []string{"1", "2", "8"}},
		{"words are literal", askText(t, "a_c"), []string{"4"}},
	} {
		p, err := d.List(context.Background(), c.q, MaxPage, "", plenty)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v = %v, want %v", c.why, c.q, got, c.want)
		}
		if p.Next != "" {
			t.Errorf("%s: a whole answer has a next page", c.why)
		}
	}
}

func TestPagesJoinToTheWhole(t *testing.T) {
	var agents []Agent
	for i := range 30 {
		agents = append(agents, rated(agent(i, "x.y", fmt.Sprintf("x.%d", i%4), "z"), int64(i%3), 1))
	}
	d, _ := newMemory(agents...)
	for _, q := range []Question{askCap(t, "x.y"), askCap(t, "x.*"), askCap(t, "x.1,x.3*,z"), askCap(t, "*"), askText(t, "agent"), {}} {
		for _, limit := range []int{1, 7, 29, 30, 31} {
			all := slices.Concat(pages(t, d, q, limit)...)
			seen := map[string]bool{}
			for _, n := range all {
				seen[n] = true
			}
			if len(all) != 30 || len(seen) != 30 {
				t.Errorf("%v by %d: %d entries, %d agents, want 30 and 30", q, limit, len(all), len(seen))
			}
		}
	}
}

func TestPageBounds(t *testing.T) {
	t.Run("bytes", func(t *testing.T) {
		var agents []Agent
		for i := range 60 {
			a := agent(i)
			for j := range 256 {
				a.Tags = append(a.Tags, fmt.Sprintf("%03d%s", j, strings.Repeat("x", 253)))
			}
			agents = append(agents, a)
		}
		d, _ := newMemory(agents...)
		p, err := d.List(context.Background(), Question{}, MaxPage, "", plenty)
		if err != nil || p.Next == "" {
			t.Fatalf("8 MB on one page, %v", err)
		}
		if total := len(p.AppendViews(nil)); total > MaxPageBytes || total < MaxPageBytes/2 {
			t.Errorf("a page has %d bytes, want up to %d", total, MaxPageBytes)
		}
		if n := len(slices.Concat(pages(t, d, Question{}, MaxPage)...)); n != 60 {
			t.Errorf("pages hold %d agents, want 60", n)
		}
	})
	t.Run("rows looked at", func(t *testing.T) {
		var agents []Agent
		for i := range 3000 {
			agents = append(agents, agent(i, "x"))
		}
		d, m := newMemory(agents...)
		w := walk{steps: d.steps(askText(t, "agent 2999")), limit: 10, horizon: UsualAges.Horizon(d.now()), space: space{reserve: plenty},
			budget: budget{looked: 100, until: d.now().Add(time.Minute), clock: d.now}}
		if err := w.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if m.looked > 300 || w.end {
			t.Errorf("looked at %d rows on a budget of 100, at the end: %v", m.looked, w.end)
		}
	})
	t.Run("time", func(t *testing.T) {
		var agents []Agent
		for i := range 300 {
			agents = append(agents, agent(i, "x"))
		}
		d, m := newMemory(agents...)
		clock := testNow.Add(time.Hour)
		d.now = func() time.Time { return clock }
		m.onStep = func() { clock = clock.Add(maxWalk) }
		p, err := d.List(context.Background(), askText(t, "agent 299"), 10, "", plenty)
		if err != nil || p.Count != 0 || p.Next == "" {
			t.Errorf("a slow walk gave %v, next %q, %v; want nothing yet and a cursor", names(t, p), p.Next, err)
		}
		if got := slices.Concat(pages(t, d, askText(t, "agent 299"), 10)...); !slices.Equal(got, []string{"299"}) {
			t.Errorf("pages hold %v, want 299", got)
		}
	})
}

// A page is held twice, as it was read and as it is answered, and memory is
// taken for both whatever the size of its views.
func TestAPageTakesTheMemoryItHolds(t *testing.T) {
	var agents []Agent
	for i := range 60 {
		a := agent(i, "x")
		for j := range i * 4 {
			a.Tags = append(a.Tags, fmt.Sprintf("%03d%s", j, strings.Repeat("x", 253)))
		}
		agents = append(agents, a)
	}
	d, _ := newMemory(agents...)
	for _, limit := range []int{1, 10, 50, MaxPage} {
		for cursor, more := "", true; more; more = cursor != "" {
			var taken int64
			p, err := d.List(context.Background(), askCap(t, "x"), limit, cursor, func(n int64) error { taken += n; return nil })
			if err != nil {
				t.Fatal(err)
			}
			held := 2 * int64(len(p.AppendViews(nil)))
			if p.Size() > MaxPageBytes || taken < held || taken > 4*held+2*int64(limit)*usualView {
				t.Errorf("a page of %d holds %d bytes and took %d", limit, held, taken)
			}
			cursor = p.Next
		}
	}
	refused := errs.New(errs.Unavailable, "hub_busy", "busy")
	_, err := d.List(context.Background(), askCap(t, "x"), 50, "", func(n int64) error {
		if n > 2*50*usualView {
			return refused
		}
		return nil
	})
	if err != refused {
		t.Errorf("a page without memory gave %v", err)
	}
}

// Number 42: thirty days and quiet.
func TestWhoIsNotSeenForThirtyDaysIsHidden(t *testing.T) {
	d, m := newMemory(agent(1, "x"), agent(2, "x"), agent(3, "x"))
	now := testNow.Add(31 * 24 * time.Hour)
	d.now = func() time.Time { return now }
	m.seen[aidOf(2)] = now.Add(-time.Minute)
	m.seen[aidOf(3)] = now.Add(-2 * time.Hour)
	for _, q := range []Question{askCap(t, "x"), askCap(t, "x*"), askCap(t, "*"), {}} {
		p, err := d.List(context.Background(), q, 10, "", plenty)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, p); !slices.Equal(got, []string{"2", "3"}) {
			t.Errorf("%v = %v, want 2 and 3", q, got)
		}
		two, three := views(t, p)[0], views(t, p)[1]
		if two.Quiet || !three.Quiet || two.LastSeen == nil || !two.LastSeen.Equal(now.Add(-time.Minute)) {
			t.Errorf("a minute ago: %+v; two hours ago: %+v", two, three)
		}
	}
}

func TestABrokenCursorIsRefused(t *testing.T) {
	d, _ := newMemory(agent(1, "x.y"), agent(2, "x.y"), agent(3, "z.a"))
	p, err := d.List(context.Background(), askCap(t, "x.y"), 1, "", plenty)
	if err != nil || p.Next == "" {
		t.Fatalf("no second page: %v", err)
	}
	zero := encodeCursor("cap=x.y", Place{AID: aidOf(1)[:58] + "\x00"})
	late := encodeCursor("cap=x.y", Place{AID: aidOf(1), RegisteredAt: time.UnixMicro(1 << 62)})
	for _, c := range []struct {
		why, cursor string
		q           Question
	}{
		{"no base64url", "bogus!", askCap(t, "x.y")},
		{"no cursor", "bogus", askCap(t, "x.y")},
		{"cut by a byte", p.Next[:len(p.Next)-1], askCap(t, "x.y")},
		{"longer by a byte", p.Next + "A", askCap(t, "x.y")},
		{"of another capability", p.Next, askCap(t, "z.*")},
		{"of a text question", p.Next, askText(t, "x.y")},
		{"a made-up AID", zero, askCap(t, "x.y")},
		{"a made-up time", late, askCap(t, "x.y")},
		{"an empty place", codec.EncodeB64u(make([]byte, 40)), askCap(t, "x.y")},
	} {
		_, err := d.List(context.Background(), c.q, 10, c.cursor, plenty)
		if e := errs.As(err); e == nil || e.Kind != errs.Invalid || e.Field != "cursor" {
			t.Errorf("%s: %v, want an invalid cursor", c.why, err)
		}
	}
	if _, err := d.List(context.Background(), askCap(t, " x.y ,"), 5, p.Next, plenty); err != nil {
		t.Errorf("the same question, spelled otherwise and with another limit: %v", err)
	}
}

func TestParseLimit(t *testing.T) {
	for value, want := range map[string]int{"1": 1, "7": 7, "1000": 1000, "1001": 1000, "99999999999999999999": 1000} {
		if got, err := ParseLimit(value, 1000); got != want || err != nil {
			t.Errorf("ParseLimit(%q) = %d, %v, want %d", value, got, err, want)
		}
	}
	for _, value := range []string{"", "0", "-1", "+1", "abc", "1.5", " 1", "0x10"} {
		if _, err := ParseLimit(value, 1000); errs.As(err) == nil || errs.As(err).Field != "limit" {
			t.Errorf("ParseLimit(%q): %v, want an invalid limit", value, err)
		}
	}
}

func TestAskRefuses(t *testing.T) {
	for _, value := range []string{"\x00", "a\xff", strings.Repeat("a", 257)} {
		if _, err := AskText(value); errs.As(err) == nil || errs.As(err).Field != "q" {
			t.Errorf("AskText(%.10q): %v, want an invalid q", value, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(encodeCursor("q=", Place{AID: aidOf(1), RegisteredAt: testNow}))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := decodeCursor("q=", cursor)
		if err == nil && encodeCursor("q=", p) != cursor {
			t.Fatalf("%q reads as %+v, which is another cursor", cursor, p)
		}
	})
}
