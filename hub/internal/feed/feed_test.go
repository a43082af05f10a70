package feed

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

func TestParseCursor(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"17", 17, true},
		{"9223372036854775807", math.MaxInt64, true},
		{"9223372036854775808", math.MaxInt64, true},
		{"99999999999999999999999999", math.MaxInt64, true},
		{"", 0, false},
		{"-1", 0, false},
		{"+1", 0, false},
		{" 1", 0, false},
		{"1.0", 0, false},
		{"0x10", 0, false},
		{"1_000", 0, false},
		{"１", 0, false},
	} {
		got, err := ParseCursor(c.text)
		if got != c.want || (err == nil) != c.ok || err != nil && errs.KindOf(err) != errs.Invalid {
			t.Errorf("ParseCursor(%q) = %d, %v; want %d, ok %v", c.text, got, err, c.want, c.ok)
		}
	}
}

// shelf is a store of one page.
type shelf struct {
	span    Span
	entries []Entry
	asked   bool
}

func (s *shelf) Span(context.Context, Stream, int64) (Span, error) { return s.span, nil }

func (s *shelf) Cards(context.Context, Stream, int64, Span) ([]Entry, int64, error) {
	s.asked = true
	return s.entries, s.span.Until, nil
}

func (s *shelf) Reviews(context.Context, int64, Span) ([]Review, int64, error) {
	s.asked = true
	return []Review{{Seq: s.span.Until}}, s.span.Until, nil
}

type on bool

func (o on) DiscoveryOn() bool { return bool(o) }

func TestAHubMayTellNothing(t *testing.T) {
	s := &shelf{span: Span{Until: 3, Bytes: 10}}
	f := New(s, on(false))
	_, cards := f.Cards(t.Context(), Cards, 0, "", nil)
	_, reviews := f.Reviews(t.Context(), 0, nil)
	for _, err := range []error{cards, reviews} {
		if errs.KindOf(err) != errs.Forbidden || !errs.Is(err, "policy_refused") {
			t.Errorf("%v, want policy_refused", err)
		}
	}
	if s.asked {
		t.Error("something was read")
	}
}

// Memory is taken before anything is read, and nothing is read where there is none.
func TestMemoryComesFirst(t *testing.T) {
	full := errors.New("no room")
	for _, c := range []struct {
		why  string
		span Span
		want int64
		read bool
	}{
		{"a page", Span{Until: 9, Bytes: 1000}, 3000, false},
		{"nothing new", Span{Until: 5}, 0, false},
		{"nothing told among what was looked at", Span{Until: 9}, 0, true},
	} {
		s := &shelf{span: c.span}
		var took int64
		page, err := New(s, on(true)).Reviews(t.Context(), 5, func(n int64) error { took += n; return full })
		if took != c.want || (err != nil) != (c.want > 0) || s.asked != c.read {
			t.Errorf("%s: took %d bytes, read %v, %v; want %d, %v", c.why, took, s.asked, err, c.want, c.read)
		}
		if err == nil && page.Cursor != c.span.Until {
			t.Errorf("%s: cursor %d, want %d", c.why, page.Cursor, c.span.Until)
		}
	}
}

// gap is a store in which nobody is told of in a number of pages.
type gap int64

func (g gap) Span(_ context.Context, _ Stream, after int64) (Span, error) {
	return Span{Until: min(after+1, int64(g)+1), Bytes: 100}, nil
}

func (g gap) Cards(_ context.Context, _ Stream, _ int64, span Span) ([]Entry, int64, error) {
	e := Entry{Seq: span.Until, AID: "b1"}
	if span.Until > int64(g) {
		e.Card = []byte(`{}`)
	}
	return []Entry{e}, span.Until, nil
}

func (g gap) Reviews(context.Context, int64, Span) ([]Review, int64, error) { return nil, 0, nil }

// Many agents may leave the lists at once, and peers that meet them then are not
// told that the stream ends there. The pages that show nothing share their memory.
func TestAPageLooksOnForWhoIsTold(t *testing.T) {
	var took int64
	page, err := New(gap(20), on(true)).Cards(t.Context(), Cards, 0, "", func(n int64) error { took += n; return nil })
	if err != nil || len(page.Cards) != 1 || page.Cursor != 21 || took != 300 {
		t.Errorf("%d entries up to %d with %d bytes, %v", len(page.Cards), page.Cursor, took, err)
	}
	page, err = New(gap(1000), on(true)).Cards(t.Context(), Cards, 0, "", func(int64) error { return nil })
	if err != nil || page.Cards == nil || len(page.Cards) != 0 || page.Cursor != maxSteps {
		t.Errorf("a page of nobody ends at %d, %v", page.Cursor, err)
	}
}

func TestEntries(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	withdrawn := Entry{Seq: 7, AID: "b1", Withdrawn: Left, At: at}
	for _, c := range []struct {
		why    string
		e      Entry
		stream Stream
		want   string
	}{
		{"a card", Entry{Seq: 7, Card: []byte(`{"a":1}`), KEL: []byte{1}, Keyset: []byte{2}}, Cards,
			`{"format":"a2a-card/1","card":{"a":1},"kel":"AQ==","keys":"Ag==","home":"h","fed_seq":7}`},
		{"an older card", Entry{Seq: 7, Card: []byte(`{"a":1}`), KEL: []byte{1}}, OlderCards,
			`{"card":{"a":1},"kel":"AQ==","home":"h","fed_seq":7}`},
		{"a withdrawal", withdrawn, Cards,
			`{"format":"withdrawal/1","card":{"action":"withdraw","agent_id":"b1","reason":"left","at":"2026-01-02T03:04:05.006Z"},"home":"h","fed_seq":7}`},
		{"the older stream has none", withdrawn, OlderCards, ""},
		{"not told just now", Entry{Seq: 7}, Cards, ""},
	} {
		s := &shelf{span: Span{Until: 7, Bytes: 1}, entries: []Entry{c.e}}
		page, err := New(s, on(true)).Cards(t.Context(), c.stream, 0, "h", func(int64) error { return nil })
		if err != nil || page.Cursor != 7 {
			t.Fatalf("%s: cursor %d, %v", c.why, page.Cursor, err)
		}
		got, err := json.Marshal(page)
		if want := `{"cursor":7,"cards":[` + c.want + `]}`; err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s", c.why, got, want)
		}
	}
	if got := wire.NewWithdrawal("b", "r", at.In(time.FixedZone("", 3600))); string(got.At) != `"2026-01-02T03:04:05.006Z"` {
		t.Errorf("at is %s", got.At)
	}
}

// counter gives out numbers for what is dirty, and remembers when.
type counter struct {
	sync.Mutex
	dirty int
	fails bool
	at    []time.Duration
	began time.Time
}

func (c *counter) Number(_ context.Context, now time.Time, n int) (int, error) {
	c.Lock()
	defer c.Unlock()
	if c.fails {
		return 0, errors.New("no database")
	}
	looked := min(n, c.dirty)
	if c.dirty -= looked; looked > 0 {
		c.at = append(c.at, now.Sub(c.began))
	}
	return looked, nil
}

func (c *counter) set(fails bool, dirty int) {
	c.Lock()
	defer c.Unlock()
	c.fails, c.dirty = fails, dirty
}

func TestNumbererIsSoonAndNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{began: time.Now()}
		marked := make(chan struct{}, 1)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- NewNumberer(c, marked, time.Now, slog.New(slog.DiscardHandler)).Run(ctx) }()

		time.Sleep(100 * time.Millisecond)
		c.set(false, 3) // at another process
		time.Sleep(time.Second)
		c.set(false, 2*batch+1) // here, and more follow all the time
		for range 30 {
			marked <- struct{}{}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		c.set(true, 1)
		time.Sleep(3 * time.Second)
		c.set(false, 1)
		time.Sleep(time.Second)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		first, soon := time.Second, 1100*time.Millisecond+gather
		if len(c.at) != 5 || c.at[0] != first || c.at[1] != soon || c.at[3] != soon || c.dirty != 0 {
			t.Errorf("numbers at %v, %d left; want %v, three times %v, and once at last", c.at, c.dirty, first, soon)
		}
	})
}
