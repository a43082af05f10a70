package listing

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// fixed is a provider of ids, some of them priced.
type fixed struct {
	caps   []string
	priced string
}

func (f fixed) ID() string             { return "fixed" }
func (f fixed) Capabilities() []string { return f.caps }
func (f fixed) Describe(capID string) card.Skill {
	return card.Skill{ID: "other", Description: "does " + capID}
}
func (f fixed) Invoke(context.Context, provider.Call) provider.Outcome {
	return provider.Outcome{Status: effect.OK}
}
func (f fixed) Health(context.Context) error      { return nil }
func (f fixed) Price(capID string) (uint64, bool) { return 3, capID == f.priced }

func serving(t *testing.T, f fixed) *provider.Registry {
	t.Helper()
	var r provider.Registry
	if err := r.Register(f); err != nil {
		t.Fatal(err)
	}
	return &r
}

func public(policy config.Policy, tags []string, ids ...string) *config.Config {
	c := config.Default()
	c.Inbound.Policy, c.Tags = policy, tags
	for _, id := range ids {
		c.Inbound.PublicCapabilities = append(c.Inbound.PublicCapabilities, config.DefaultPublic(id))
	}
	return c
}

func TestWhatIsListed(t *testing.T) {
	served := fixed{caps: []string{"light", "text.digest", "text.paid", "text.private"}, priced: "text.paid"}
	tests := []struct {
		name    string
		config  *config.Config
		skills  string
		shown   string
		network string
	}{
		{"nothing is public by itself", public(config.Closed, nil), "", "", ""},
		{"served and public", public(config.Closed, nil, "text.digest"), "text.digest", "text.digest", ""},
		{"public but not served", public(config.Closed, nil, "text.gone"), "", "", ""},
		{"public below what is served", public(config.Closed, nil, "light.onoff"), "light.onoff", "light.onoff", ""},
		{"priced, without payment", public(config.Closed, nil, "text.paid"), "", "", ""},
		{"priced, with payment", public(config.Closed, nil, "text.paid"), "text.paid", "text.paid", "hub:x"},
		{"tags are listed as they are", public(config.Closed, []string{"go", "coding"}), "", "coding go", ""},
		{"both, sorted", public(config.Closed, []string{"m", "text.digest"}, "text.digest", "light"), "light text.digest", "light m text.digest", ""},
		{"an open node talks", public(config.Open, nil, "text.digest"), "chat text.digest", "chat text.digest", ""},
	}
	for _, tt := range tests {
		l := Of(tt.config, serving(t, served), tt.network)
		if got := strings.Join(l.Public(), " "); got != tt.skills {
			t.Errorf("%s: skills %q, want %q", tt.name, got, tt.skills)
		}
		if got := strings.Join(l.Shown(), " "); got != tt.shown {
			t.Errorf("%s: shown %q, want %q", tt.name, got, tt.shown)
		}
	}
}

func TestACapabilityNamedChatIsItself(t *testing.T) {
	l := Of(public(config.Open, nil, "chat"), serving(t, fixed{caps: []string{"chat"}}), "")
	if len(l.Skills) != 1 || l.Skills[0].Description != "does chat" {
		t.Errorf("skills %+v", l.Skills)
	}
}

func TestCompareTellsBothSides(t *testing.T) {
	l := Listing{Skills: []card.Skill{{ID: "a"}, {ID: "b"}}, Tags: []string{"t"}}
	tests := []struct {
		name, listed, missing, surplus string
	}{
		{"the truth", "t b a", "", ""},
		{"twice is once", "a a b t", "", ""},
		{"a tag is gone", "a b", "t", ""},
		{"the hub still lists what is gone", "a b old t", "", "old"},
		{"nothing listed", "", "a b t", ""},
		{"other case", "A b t", "a", "A"},
	}
	for _, tt := range tests {
		missing, surplus := l.Compare(wire.Agent{Caps: strings.Fields(tt.listed)})
		if strings.Join(missing, " ") != tt.missing || strings.Join(surplus, " ") != tt.surplus {
			t.Errorf("%s: missing %v, surplus %v", tt.name, missing, surplus)
		}
	}
}

// hub keeps the high-water marks of cards and key sets, as a real one does.
type hub struct {
	card   *card.Mark
	keys   *enckeys.Signed
	bodies []wire.Register
	caps   []string
}

func (h *hub) Register(_ context.Context, body wire.Register) (wire.Registered, error) {
	h.bodies = append(h.bodies, body)
	h.caps = body.Caps
	return wire.Registered{AID: body.AID, CardStatus: h.takeCard(body.A2ACard), KeysStatus: h.takeKeys(body.EncKeys)}, nil
}

func (h *hub) takeCard(raw []byte) string {
	if string(raw) == "null" {
		return "withdrawn"
	}
	s, err := card.Read(raw)
	if err != nil {
		return "invalid"
	}
	mark := s.Mark()
	if _, err := card.Decide(h.card, mark); err != nil {
		return "conflict"
	}
	h.card = &mark
	return "ok"
}

func (h *hub) takeKeys(raw []byte) string {
	set, err := enckeys.Parse(raw)
	if err != nil {
		return "invalid"
	}
	if enckeys.Decide(h.keys, set).Refused() {
		return "conflict"
	}
	h.keys = &set
	return "ok"
}

func (h *hub) last() wire.Register { return h.bodies[len(h.bodies)-1] }

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func publisher(t *testing.T, now *time.Time) Publisher {
	t.Helper()
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keyring.Init(dir, start)
	if err != nil {
		t.Fatal(err)
	}
	return Publisher{Dir: dir, Keys: keys, Pin: hubclient.Pin{URL: "https://hub.example.org"}, Now: func() time.Time { return *now }}
}

func register(t *testing.T, p Publisher, h *hub, l Listing) Report {
	t.Helper()
	report, err := p.Register(t.Context(), h, l, "")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

var oneSkill = Listing{Skills: []card.Skill{{ID: "text.digest"}}, Profile: config.Profile{Summary: "Digests."}}

func TestTheRegistrationVerifies(t *testing.T) {
	now := start
	p, h := publisher(t, &now), &hub{}
	report := register(t, p, h, oneSkill)
	if report.CardStatus != "ok" || report.KeysStatus != "ok" || report.CardProblem != nil || !slices.Equal(report.Listed, []string{"text.digest"}) {
		t.Errorf("report %+v", report)
	}
	body := h.last()
	verifier := card.Verifier{
		KEL: func(context.Context, string) ([]byte, error) { return body.KEL, nil },
		Now: func() time.Time { return now },
	}
	v, err := verifier.Verify(t.Context(), body.A2ACard)
	if err != nil {
		t.Fatalf("the card does not verify: %v", err)
	}
	if v.AID != p.Keys.AID() || v.Card.Name != body.Name || v.Card.Description != "Digests." || v.Card.HubBase() != "https://hub.example.org" {
		t.Errorf("card %+v, body name %q", v.Card, body.Name)
	}
	if _, err := enckeys.Verify(body.EncKeys, body.AID, body.KEL, identity.Replay, now); err != nil {
		t.Errorf("the key set does not verify: %v", err)
	}
}

// An unchanged registration is cheap for the hub only while its bytes are the same.
func TestTheSameOfferIsTheSameBytes(t *testing.T) {
	now := start
	p, h := publisher(t, &now), &hub{}
	register(t, p, h, oneSkill)
	now = start.Add(time.Hour)
	register(t, p, h, oneSkill)
	first, _ := json.Marshal(h.bodies[0])
	second, _ := json.Marshal(h.bodies[1])
	if string(first) != string(second) {
		t.Errorf("bodies differ:\n%s\n%s", first, second)
	}
	changed := oneSkill
	changed.Profile.Summary = "Digests text."
	register(t, p, h, changed)
	if string(h.last().A2ACard) == string(h.bodies[1].A2ACard) || h.card == nil {
		t.Error("another summary gave the same card")
	}
	if err := p.Keys.Rotate(now); err != nil {
		t.Fatal(err)
	}
	if report := register(t, p, h, changed); report.CardStatus != "ok" || report.KeysStatus != "ok" {
		t.Errorf("after a rotation: %+v", report)
	}
}

func TestTheLastSkillTakesTheCardWithIt(t *testing.T) {
	now := start
	p, h := publisher(t, &now), &hub{}
	register(t, p, h, oneSkill)
	if report := register(t, p, h, Listing{Tags: []string{"t"}}); report.CardStatus != "withdrawn" {
		t.Errorf("report %+v", report)
	}
	raw, err := json.Marshal(h.last())
	if err != nil || !strings.Contains(string(raw), `"a2a_card":null`) || !slices.Equal(h.caps, []string{"t"}) {
		t.Errorf("body %s, %v", raw, err)
	}
	if report := register(t, p, h, oneSkill); report.CardStatus != "ok" {
		t.Errorf("a card that came back: %+v", report)
	}
}

func TestAHubThatKnowsMoreThanARestoredNode(t *testing.T) {
	now := start
	p, h := publisher(t, &now), &hub{}
	register(t, p, h, oneSkill)
	backup := map[string][]byte{}
	for _, name := range []string{cardFile, "encryption.keys"} {
		data, err := p.Dir.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		backup[name] = data
	}
	now = start.Add(8 * 24 * time.Hour) // a new key, a new card
	if _, err := p.Keys.Advance(now); err != nil {
		t.Fatal(err)
	}
	changed := oneSkill
	changed.Profile.Summary = "Later."
	register(t, p, h, changed)

	now = now.Add(time.Hour)
	for name, data := range backup {
		if err := p.Dir.Write(name, data); err != nil {
			t.Fatal(err)
		}
	}
	restored, err := keyring.Open(p.Dir, now)
	if err != nil {
		t.Fatal(err)
	}
	p.Keys = restored
	if report := register(t, p, h, oneSkill); report.CardStatus != "ok" || report.KeysStatus != "ok" {
		t.Errorf("after a restore: %+v", report)
	}
}

func TestAHubOnThisMachineGetsNoCard(t *testing.T) {
	now := start
	p, h := publisher(t, &now), &hub{}
	p.Pin.URL = "http://127.0.0.1:8088"
	report := register(t, p, h, oneSkill)
	if report.CardProblem == nil || string(h.last().A2ACard) != "null" || !slices.Equal(h.caps, []string{"text.digest"}) {
		t.Errorf("report %+v, card %s", report, h.last().A2ACard)
	}
	if report.CardProblem == nil || !strings.Contains(report.CardProblem.Error(), "--public-url") {
		t.Errorf("what to do is not said: %v", report.CardProblem)
	}
	p.Pin.PublicURL = "https://hub.example.org"
	if report := register(t, p, h, oneSkill); report.CardProblem != nil || report.CardStatus != "ok" {
		t.Errorf("with a public URL: %+v", report)
	}
}

func TestADamagedCardFileIsReplaced(t *testing.T) {
	now := start
	p, h := publisher(t, &now), &hub{}
	register(t, p, h, oneSkill)
	if err := p.Dir.Write(cardFile, []byte("{")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if report := register(t, p, h, oneSkill); report.CardStatus != "ok" {
		t.Errorf("report %+v", report)
	}
}
