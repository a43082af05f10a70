package card

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds on a card, checked before it costs work.
const (
	MaxBytes       = 65_536
	MaxSignatures  = 8
	MaxName        = 128
	MaxDescription = 4096
	MaxSkills      = 256
	MaxTags        = 16
)

// Bindings a node of the network speaks.
const (
	RelayBinding    = "https://agentnetwork.org.cn/a2a/bindings/anet-relay/v1"
	P2PBinding      = "https://agentnetwork.org.cn/a2a/bindings/anet-p2p/v1"
	ProtocolVersion = "1.0"
)

// Extensions of a card. ExtPrice stands on the extended card only.
const (
	ExtCard     = "https://agentnetwork.org.cn/a2a/ext/anet-card/v1"
	ExtEvidence = "https://agentnetwork.org.cn/a2a/ext/anet-evidence/v1"
	ExtPricing  = "https://agentnetwork.org.cn/a2a/ext/anet-pricing/v1"
	ExtPrice    = "https://agentnetwork.org.cn/a2a/ext/anet-price/v1"
	ExtX402     = "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2"
)

// Card is what anet reads and writes of an A2A 1.0 agent card. Whoever shows a
// card to others shows its bytes, which may hold more.
type Card struct {
	Name               string       `json:"name"`
	Description        string       `json:"description"`
	Version            string       `json:"version"`
	Interfaces         []Interface  `json:"supportedInterfaces"`
	Capabilities       Capabilities `json:"capabilities"`
	DefaultInputModes  []string     `json:"defaultInputModes"`
	DefaultOutputModes []string     `json:"defaultOutputModes"`
	Skills             []Skill      `json:"skills"`
}

// Interface is one way to reach the agent.
type Interface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"`
	ProtocolVersion string `json:"protocolVersion"`
	Tenant          string `json:"tenant,omitzero"`
}

// Capabilities are features of the protocol; what the agent can do are Skills.
type Capabilities struct {
	Streaming         bool        `json:"streaming"`
	PushNotifications bool        `json:"pushNotifications"`
	ExtendedAgentCard bool        `json:"extendedAgentCard,omitzero"`
	Extensions        []Extension `json:"extensions,omitzero"`
}

// Extension is a declared extension of the protocol.
type Extension struct {
	URI         string         `json:"uri,omitzero"`
	Description string         `json:"description,omitzero"`
	Required    bool           `json:"required,omitzero"`
	Params      jsontext.Value `json:"params,omitzero"`
}

// Skill is a capability as a card shows it; ID is the capability id.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitzero"`
	InputModes  []string `json:"inputModes,omitzero"`
	OutputModes []string `json:"outputModes,omitzero"`
}

// Extension finds the first declared extension of a URI.
func (c *Card) Extension(uri string) (Extension, bool) {
	for _, e := range c.Capabilities.Extensions {
		if e.URI == uri {
			return e, true
		}
	}
	return Extension{}, false
}

// HubBase is where the card says its hub is, empty when it says nothing. It is a
// hint: hubs are known by their AID.
func (c *Card) HubBase() string {
	for _, i := range c.Interfaces {
		if i.ProtocolBinding == RelayBinding {
			return HubBase(i.URL)
		}
	}
	return ""
}

// HubBase takes a relay interface's url back to the base url of its hub. Signers
// differ in what they write there.
func HubBase(relayURL string) string {
	base := trimBase(relayURL)
	for _, suffix := range []string{"/relay/v2", "/relay"} {
		// A hub may be called relay: its "//" is not the slash of a path.
		if cut, found := strings.CutSuffix(base, suffix); found && !strings.HasSuffix(cut, ":/") {
			return trimBase(cut)
		}
	}
	return base
}

func trimBase(url string) string { return strings.TrimRight(strings.TrimSpace(url), "/") }

// check applies the limits of section H.1. A count or length beyond its bound is
// CARD_TOO_LARGE, anything else INVALID_CARD.
func (c *Card) check() error {
	switch {
	case c.Name == "":
		return Refuse(InvalidCard, "name is empty")
	case len(c.Interfaces) == 0:
		return Refuse(InvalidCard, "supportedInterfaces is empty")
	case len(c.Skills) == 0:
		return Refuse(InvalidCard, "skills is empty")
	case len(c.Name) > MaxName:
		return Refuse(CardTooLarge, "name has more than %d bytes", MaxName)
	case len(c.Description) > MaxDescription:
		return Refuse(CardTooLarge, "description has more than %d bytes", MaxDescription)
	case len(c.Skills) > MaxSkills:
		return Refuse(CardTooLarge, "there are more than %d skills", MaxSkills)
	}
	for i, n := range c.Interfaces {
		if n.URL == "" || n.ProtocolBinding == "" {
			return Refuse(InvalidCard, "supportedInterfaces[%d] has no url or protocolBinding", i)
		}
	}
	return c.checkSkills()
}

func (c *Card) checkSkills() error {
	seen := make(map[string]bool, len(c.Skills))
	for i, s := range c.Skills {
		switch {
		case s.ID == "" || s.Name == "" || s.Description == "":
			return Refuse(InvalidCard, "skills[%d] has an empty id, name or description", i)
		case seen[s.ID]:
			return Refuse(InvalidCard, "skills[%d] repeats the id %q", i, clip(s.ID))
		case len(s.Tags) == 0 || hasEmpty(s.Tags):
			return Refuse(InvalidCard, "skills[%d] has no tags or an empty one", i)
		case len(s.Tags) > MaxTags:
			return Refuse(CardTooLarge, "skills[%d] has more than %d tags", i, MaxTags)
		}
		seen[s.ID] = true
	}
	return nil
}

func hasEmpty(texts []string) bool {
	for _, t := range texts {
		if t == "" {
			return true
		}
	}
	return false
}

// clip shortens foreign text for a message.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
