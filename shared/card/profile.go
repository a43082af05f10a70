package card

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	jsonMode           = "application/json"
	defaultDescription = "An anet agent. It is reached through the anet relay binding, with end-to-end encrypted, signed messages; a generic A2A client reaches it through a local anet daemon."
	cardExtensionText  = "anet identity (AID) and card sequence; the card is signed under the AID's current KEL key"
	evidenceText       = "completed tasks carry a provider-signed receipt and anet.* evidence metadata"
)

// Profile is what a node says of itself; everything but AID, HubURL and one
// skill may be left out.
type Profile struct {
	AID          string
	HubURL       string // where others reach the hub, which may not be how this node does
	Name         string
	Description  string
	Version      string
	Skills       []Skill
	Interfaces   []Interface // beside the relay's
	Extensions   []Extension // beside identity and evidence
	ExtendedCard bool        // the node answers requests for its extended card
}

// ChatSkill is listed while a node takes text from everybody and serves no
// capability of that id.
func ChatSkill() Skill {
	return Skill{ID: "chat", Name: "Chat", Description: "Text conversation.", Tags: []string{"chat"}}
}

// DefaultName is what an agent is called whose operator gave no name.
func DefaultName(aid string) string { return "anet agent " + aid[:min(12, len(aid))] }

// Build makes the unsigned card, in canonical JSON and publish form.
func (p Profile) Build(s Stamp) ([]byte, error) {
	c := Card{
		Name:               cmp.Or(p.Name, DefaultName(p.AID)),
		Description:        cmp.Or(p.Description, defaultDescription),
		Version:            cmp.Or(p.Version, "0"),
		DefaultInputModes:  []string{jsonMode},
		DefaultOutputModes: []string{jsonMode},
		Skills:             p.skills(),
	}
	var err error
	if c.Interfaces, err = p.interfaces(); err != nil {
		return nil, err
	}
	c.Capabilities.ExtendedAgentCard = p.ExtendedCard
	if c.Capabilities.Extensions, err = p.extensions(s); err != nil {
		return nil, err
	}
	return c.encode()
}

// encode applies to our own card what every verifier would.
func (c *Card) encode() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	raw, err := canonical(c)
	if err != nil {
		return nil, Refuse(NotPublishForm, "the card cannot be written as strict JSON").Because(err)
	}
	return raw, CheckPublishForm(raw)
}

func (p Profile) skills() []Skill {
	out := make([]Skill, 0, len(p.Skills))
	for _, s := range p.Skills {
		out = append(out, s.filled())
	}
	slices.SortFunc(out, func(a, b Skill) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// filled gives a skill the defaults of what its provider left out, and leaves
// out what the card says for all skills.
func (s Skill) filled() Skill {
	s.Name = cmp.Or(s.Name, s.ID)
	s.Description = cmp.Or(s.Description, "anet capability "+s.ID+" (the provider gave no description)")
	if s.Tags = withoutEmpty(s.Tags); s.Tags == nil {
		s.Tags = tagsOf(s.ID)
	}
	s.Examples = withoutEmpty(s.Examples)
	s.InputModes = withoutDefault(s.InputModes)
	s.OutputModes = withoutDefault(s.OutputModes)
	return s
}

func withoutEmpty(texts []string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

func withoutDefault(modes []string) []string {
	modes = withoutEmpty(modes)
	if slices.Equal(modes, []string{jsonMode}) {
		return nil
	}
	return modes
}

// tagsOf makes tags from the words of an id, or from the id when it has none.
func tagsOf(id string) []string {
	var tags []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(id), notAWord) {
		if len(tags) < MaxTags && !slices.Contains(tags, word) {
			tags = append(tags, word)
		}
	}
	if tags == nil && id != "" {
		tags = []string{id}
	}
	return tags
}

func notAWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// interfaces puts the relay first and the others in the order of their binding
// and url.
func (p Profile) interfaces() ([]Interface, error) {
	relay := Interface{RelayURL(p.HubURL), RelayBinding, ProtocolVersion, p.AID}
	out := append([]Interface{relay}, p.Interfaces...)
	for i, n := range out {
		if i > 0 && n.ProtocolBinding == RelayBinding {
			return nil, Refuse(NotPublishForm, "a card has one relay interface, its hub's")
		}
		if err := checkPublic(n.URL); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out[1:], func(a, b Interface) int {
		return cmp.Or(strings.Compare(a.ProtocolBinding, b.ProtocolBinding), strings.Compare(a.URL, b.URL))
	})
	return out, nil
}

// extensions puts identity and evidence first and the others in the order of
// their URI.
func (p Profile) extensions(s Stamp) ([]Extension, error) {
	own := []Extension{
		{URI: ExtCard, Description: cardExtensionText, Params: s.params(p.AID)},
		{URI: ExtEvidence, Description: evidenceText},
	}
	out := append(own, p.Extensions...)
	seen := map[string]bool{"": true}
	for _, e := range out {
		if seen[e.URI] {
			return nil, Refuse(NotPublishForm, "extension %q has no URI of its own", clip(e.URI))
		}
		seen[e.URI] = true
		if err := checkParams(e); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out[len(own):], func(a, b Extension) int { return strings.Compare(a.URI, b.URI) })
	return out, nil
}

// checkParams keeps JSON numbers out of what is signed: SDKs print them
// differently.
func checkParams(e Extension) error {
	if e.Params == nil {
		return nil
	}
	var params map[string]any
	if err := json.Unmarshal(e.Params, &params); err != nil {
		return Refuse(NotPublishForm, "the params of extension %q are no object", clip(e.URI)).Because(err)
	}
	if hasNumber(params) {
		return Refuse(NotPublishForm, "the params of extension %q hold a number that is no decimal string", clip(e.URI))
	}
	return nil
}

func hasNumber(v any) bool {
	switch v := v.(type) {
	case float64:
		return true
	case []any:
		return slices.ContainsFunc(v, hasNumber)
	case map[string]any:
		for _, e := range v {
			if hasNumber(e) {
				return true
			}
		}
	}
	return false
}

// mustJSON encodes values that have a JSON form by their type.
func mustJSON(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return b
}
