package learned

import (
	"context"
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

var now = time.UnixMilli(1_767_225_600_000).UTC()

const peerHome = "https://peer.example.org"

// shelf is what stands on record.
type shelf map[string]Record

func (s shelf) Look(_ context.Context, _ Job, aids []string) (map[string]Record, error) {
	out := map[string]Record{}
	for _, aid := range aids {
		out[aid] = s[aid]
	}
	return out, nil
}

// plenty is more room than anybody needs.
var plenty = Room{Agents: 10, Marks: 10, Bytes: 1 << 20}

func vetter() Vetter {
	return Vetter{Replay: identity.Replay, Now: func() time.Time { return now }}
}

// pageOf is a page as a peer answers it.
func pageOf(t testing.TB, entries ...any) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"cursor": 100, "cards": entries})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func preview(t testing.TB, stream peers.Stream, on shelf, room Room, entries ...any) []Previewed {
	t.Helper()
	from := Source{Peer: 1, Stream: stream, Endpoint: peerHome}
	_, list, err := vetter().Preview(t.Context(), on, from, pageOf(t, entries...), 0, room)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// told is an entry as its peer tells it.
func told(n *directorytest.Node, seq int64, skills ...string) wire.FedCard {
	return wire.FedCard{Format: wire.FormatA2ACard, Card: n.Card(seq, now, "an agent", skills...), KEL: n.Key.KEL(),
		Keys: n.Keyset(now, false), Home: "https://home.example.org", FedSeq: 7}
}

func older(n *directorytest.Node, seq uint64) wire.FedCard {
	return wire.FedCard{Card: n.ADPCard(seq, now), KEL: n.Key.KEL(), Home: "https://home.example.org", FedSeq: 7}
}

func withdrawal(aid string) wire.FedCard {
	raw, _ := json.Marshal(wire.NewWithdrawal(aid, "left", now))
	return wire.FedCard{Format: wire.FormatWithdrawal, Card: raw, FedSeq: 8}
}

// with changes an entry.
func with(e wire.FedCard, change func(*wire.FedCard)) wire.FedCard {
	change(&e)
	return e
}

func markOf(t testing.TB, e wire.FedCard) card.Mark {
	t.Helper()
	s, err := card.Read(e.Card)
	if err != nil {
		t.Fatal(err)
	}
	return s.Mark()
}

func TestWhatBecomesOfAnEntry(t *testing.T) {
	n, other := directorytest.NewNode(t, now.Add(-time.Hour)), directorytest.NewNode(t, now)
	first := told(n, 5, "text.digest")
	young := n.Key.KEL()
	n.Rotate(now.Add(-time.Minute))
	entry := told(n, 6, "text.digest")
	known := Record{Known: true, KEL: n.Key.KEL()}
	marked := func(m card.Mark) Record { r := known; r.Marks = []card.Mark{m}; return r }
	mine := func(e wire.FedCard) Record {
		list := preview(t, peers.Cards, shelf{}, plenty, e)
		r := known
		r.Mine = &Row{Entry: list[0].Hash, Size: list[0].Size()}
		return r
	}
	forked := directorytest.NewNode(t, now)
	for _, c := range []struct {
		why    string
		entry  any
		rec    Record
		room   Room
		step   Step
		reason string
	}{
		{"a good one", entry, Record{}, plenty, Take, ""},
		{"one that is known otherwise", entry, known, plenty, Take, ""},
		{"without a key history, where one is known", with(entry, func(e *wire.FedCard) { e.KEL = nil }), known, plenty, Take, ""},
		{"without a key history, where none is", with(entry, func(e *wire.FedCard) { e.KEL = nil }), Record{}, plenty, Hold, "kel_unavailable"},
		{"with a shorter history than is known, and the present key", with(entry, func(e *wire.FedCard) { e.KEL = young }), known, plenty, Take, ""},
		{"signed by a key that was given up since", first, known, plenty, Refuse, "key_not_current"},
		{"registered here", entry, Record{Registered: true, KEL: n.Key.KEL()}, plenty, Hold, RegisteredHere},
		{"registered here, and broken", first, Record{Registered: true, KEL: n.Key.KEL()}, plenty, Hold, RegisteredHere},
		{"word for word as before", entry, mine(entry), plenty, Pass, ""},
		{"with another home than before", with(entry, func(e *wire.FedCard) { e.Home = "https://new.example.org" }), mine(entry), plenty, Take, ""},
		{"with the number that is known", entry, marked(markOf(t, entry)), plenty, Take, ""},
		{"older than its agent's newest", entry, marked(card.Mark{Seq: 7}), plenty, Refuse, "seq_rollback"},
		{"another card with the same number", entry, marked(card.Mark{Seq: 6}), plenty, Refuse, "seq_fork"},
		{"older than what its agent had as a member here", entry, Record{Marks: []card.Mark{{Seq: 2}, {Seq: 9}}}, plenty, Refuse, "seq_rollback"},
		{"valid from tomorrow", with(entry, func(e *wire.FedCard) { e.Card = n.Card(9, now.Add(24*time.Hour), "an agent", "a") }), known, plenty, Hold, "card_not_yet_valid"},
		{"under another agent's history", with(entry, func(e *wire.FedCard) { e.KEL = other.Key.KEL() }), Record{}, plenty, Refuse, "binding_mismatch"},
		{"under a history that contradicts the known one", entry, Record{KEL: forked.Key.KEL()}, plenty, Refuse, "kel_forked"},
		{"a history that is none", with(entry, func(e *wire.FedCard) { e.KEL = []byte{0x80} }), Record{}, plenty, Refuse, "malformed"},
		{"a history beyond all bounds", with(entry, func(e *wire.FedCard) { e.KEL = make([]byte, identity.MaxKELBytes+1) }), Record{}, plenty, Refuse, "malformed"},
		{"no card", with(entry, func(e *wire.FedCard) { e.Card = []byte(`{}`) }), Record{}, plenty, Refuse, "unsigned"},
		{"a number for an entry", 5, Record{}, plenty, Refuse, "malformed"},
		{"a history that is no base64", map[string]any{"format": wire.FormatA2ACard, "card": "x", "kel": "%"}, Record{}, plenty, Refuse, "malformed"},
		{"a new agent, and no room for one", entry, Record{}, Room{Marks: 1, Bytes: 1 << 20}, Refuse, "peer_agents_full"},
		{"a known agent, and no room for another", with(entry, func(e *wire.FedCard) { e.Home = "" }), mine(entry), Room{Bytes: 1 << 20}, Take, ""},
		{"an agent nobody told of, and no room for a mark", entry, Record{}, Room{Agents: 1, Bytes: 1 << 20}, Refuse, "peer_marks_full"},
		{"more than there is room for", entry, known, Room{Agents: 1, Bytes: 100}, Refuse, "peer_bytes_full"},
		{"a withdrawal of what it told", withdrawal(n.AID()), mine(entry), plenty, Drop, ""},
		{"a withdrawal of what it told in the other stream", withdrawal(n.AID()), Record{Sister: true}, plenty, Drop, ""},
		{"a withdrawal of what another told", withdrawal(n.AID()), known, plenty, Pass, ""},
		{"a withdrawal of who is registered here", withdrawal(n.AID()), Record{Registered: true}, plenty, Pass, ""},
		{"a withdrawal of nobody", withdrawal("nobody"), Record{}, plenty, Refuse, "malformed"},
		{"another action", map[string]any{"format": wire.FormatWithdrawal, "card": map[string]any{"action": "x", "agent_id": n.AID()}}, Record{}, plenty, Refuse, "malformed"},
	} {
		list := preview(t, peers.Cards, shelf{n.AID(): c.rec, other.AID(): c.rec}, c.room, c.entry)
		if len(list) != 1 || list[0].Step != c.step || list[0].Reason != c.reason {
			t.Errorf("%s: %v, want it %s %q", c.why, said(list), c.step, c.reason)
		}
	}
}

func said(list []Previewed) (out []string) {
	for _, p := range list {
		out = append(out, p.Step.String()+" "+p.Reason+": "+p.Says)
	}
	return out
}

func TestWhatBecomesOfAnOlderEntry(t *testing.T) {
	n := directorytest.NewNode(t, now.Add(-time.Hour))
	entry := older(n, 5)
	for _, c := range []struct {
		why    string
		entry  any
		rec    Record
		step   Step
		reason string
	}{
		{"a good one", entry, Record{}, Take, ""},
		{"older than its agent's newest", entry, Record{ADPSeqs: []int64{6}}, Refuse, "seq_rollback"},
		{"with the number that is known", entry, Record{ADPSeqs: []int64{5}}, Take, ""},
		{"with a newer card of the other kind", entry, Record{Marks: []card.Mark{{Seq: 9}}}, Take, ""},
		{"registered here", entry, Record{Registered: true}, Hold, RegisteredHere},
		{"a network card in its place", with(entry, func(e *wire.FedCard) { e.Card = n.Card(1, now, "a", "b") }), Record{}, Refuse, "malformed_card"},
		{"a withdrawal, which this stream does not know", withdrawal(n.AID()), Record{}, Refuse, "malformed_card"},
	} {
		list := preview(t, peers.ADPCards, shelf{n.AID(): c.rec}, plenty, c.entry)
		if len(list) != 1 || list[0].Step != c.step || list[0].Reason != c.reason {
			t.Errorf("%s: %v, want it %s %q", c.why, said(list), c.step, c.reason)
		}
	}
}

// A page says what it says of each of its entries whatever the others are.
func TestABrokenEntryTakesNoOtherWithIt(t *testing.T) {
	a, b := directorytest.NewNode(t, now), directorytest.NewNode(t, now)
	twins := json.RawMessage(`{"format":"a2a-card/1","card":{"name":"a","name":"b"},"kel":""}`)
	list := preview(t, peers.Cards, shelf{}, plenty, told(a, 1, "x"), twins, nil, []int{}, map[string]any{"format": "later/1", "card": 5}, told(b, 1, "y"))
	var steps []string
	for _, p := range list {
		steps = append(steps, p.Step.String())
	}
	if got := strings.Join(steps, " "); got != "taken refused refused taken" {
		t.Errorf("became %s, %v", got, said(list))
	}
}

func TestOfTwoEntriesAboutOneAgentTheLaterCounts(t *testing.T) {
	n := directorytest.NewNode(t, now)
	list := preview(t, peers.Cards, shelf{n.AID(): {Mine: &Row{}}}, plenty, told(n, 1, "x"), withdrawal(n.AID()))
	if len(list) != 1 || list[0].Step != Drop {
		t.Errorf("became %v, want one withdrawal", said(list))
	}
}

func TestAPageIsNoneThat(t *testing.T) {
	for _, c := range []struct{ why, body, reason string }{
		{"is no JSON", `{`, "page_malformed"},
		{"ends nowhere", `{"cards":[{}]}`, "page_goes_back"},
		{"goes back", `{"cursor":5,"cards":[{}]}`, "page_goes_back"},
		{"has more numbers than there are", `{"cursor":99999999999999999999,"cards":[{}]}`, "page_malformed"},
		{"has no end", `{"cursor":9,"cards":[` + strings.Repeat("1,", 2000) + `1]}`, "page_too_long"},
	} {
		if _, err := readPage([]byte(c.body), 5); err == nil || !strings.Contains(reasonOf(err), c.reason) {
			t.Errorf("a page that %s: %v, want %s", c.why, err, c.reason)
		}
	}
	if p, err := readPage([]byte(`{"cursor":0,"cards":[]}`), 5); err != nil || p.Cursor != 5 || !p.end {
		t.Errorf("an empty page ends at %d (%v, %v), want where it began", p.Cursor, p.end, err)
	}
	if p, err := readPage([]byte(`{"cursor":9,"cards":null}`), 5); err != nil || p.Cursor != 9 || p.end {
		t.Errorf("an empty page that moves on ends at %d (%v, %v), want 9", p.Cursor, p.end, err)
	}
}

// What a peer may answer must not become many times as much here.
func TestAPageOfNothingTakesNoMemory(t *testing.T) {
	body := []byte(`{"cursor":9,"cards":[` + strings.Repeat("1,", int(streams[peers.Cards].most)/2-20) + `1]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readPage(body, 5)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; reasonOf(err) != "page_too_long" || got > 4<<20 {
		t.Errorf("%d bytes took %d: %v", len(body), got, err)
	}
}

func TestWhatListsShowOfATaughtAgent(t *testing.T) {
	n := directorytest.NewNode(t, now)
	e := told(n, 1, "text.digest", "text.count")
	p := preview(t, peers.Cards, shelf{}, plenty, e)[0]
	p.Agent.TaughtAt, p.Agent.Rating = now, directory.Rating{Sum: 9, Count: 2}
	v := p.Agent.View()
	if v.HomeHub != "https://hub.example.org" {
		t.Errorf("home %q, want the hub that the card names, not the one its teacher does", v.HomeHub)
	}
	if v.Registered || !v.Listed || v.AvgRating != 4.5 || strings.Join(v.Caps, " ") != "text.count text.digest" || len(v.Tags) != 0 {
		t.Errorf("view %+v", v)
	}
	if at := p.Agent.Place(); !at.Elsewhere() || at.Rating <= 0 {
		t.Errorf("its place %+v is not behind those of this hub", at)
	}
	if len(p.Keys) == 0 {
		t.Error("its key set was lost")
	}
}

func TestABadKeySetCostsNothingElse(t *testing.T) {
	n, other := directorytest.NewNode(t, now), directorytest.NewNode(t, now)
	p := preview(t, peers.Cards, shelf{}, plenty, with(told(n, 1, "a"), func(e *wire.FedCard) { e.Keys = other.Keyset(now, false) }))[0]
	if p.Step != Take || p.Keys != nil {
		t.Errorf("%s with a key set of %d bytes, want it taken without", p.Step, len(p.Keys))
	}
}

func TestHomes(t *testing.T) {
	for _, c := range []struct{ told, want string }{
		{"https://a.example.org/", "https://a.example.org"},
		{"", peerHome},
		{"javascript:alert(1)", peerHome},
		{"https://user:secret@a.example.org", peerHome},
		{"//a.example.org", peerHome},
		{"https://" + strings.Repeat("a", 300), peerHome},
	} {
		if got := directory.HomeOf(c.told, peerHome); got != c.want {
			t.Errorf("HomeOf(%q) = %q, want %q", c.told, got, c.want)
		}
	}
}

func FuzzReadPage(f *testing.F) {
	n := directorytest.NewNode(f, now)
	f.Add(pageOf(f, told(n, 1, "a"), withdrawal(n.AID())))
	f.Add(pageOf(f, older(n, 1)))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, s := range []peers.Stream{peers.Cards, peers.ADPCards} {
			from := Source{Peer: 1, Stream: s, Endpoint: peerHome}
			cursor, list, err := vetter().Preview(t.Context(), shelf{}, from, body, 3, Room{math.MaxInt32, math.MaxInt32, math.MaxInt32})
			if err == nil && (cursor < 3 || len(list) > maxEntries) {
				t.Errorf("a page of %d entries ends at %d", len(list), cursor)
			}
		}
	})
}
