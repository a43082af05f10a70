// Package adp is the older signed directory card (wire 2, section H.6; wire 1,
// section 4.9). A hub keeps it for peers of the first generation and for the
// price at which its x402 gateway may sell; a node makes one only to sell there.
//
// Only members of Card are signed: what else a card holds passes through a hub
// unsigned, and nothing may depend on it.
package adp

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// Bounds on a card.
const (
	MaxBytes       = 65_536
	maxName        = 128
	maxDescription = 4096
	MaxSkills      = 50 // so many capabilities can be sold

	// maxInteger is the largest number every JSON reader keeps whole. Beyond it
	// several sequences would share one signature.
	maxInteger = 1<<53 - 1

	// MaxPrice is the most that a capability can be sold for.
	MaxPrice = maxInteger
)

const (
	alg = "EdDSA"
	// jwsHeader is base64url of {"alg":"EdDSA"}, the only header there is.
	jwsHeader = "eyJhbGciOiJFZERTQSJ9"

	pricing        = "anet.pricing"
	redeemProtocol = "x402-redeem"
)

// Card is a directory card, in the order the reference writes it. Members that
// are only passed on stay as they are.
type Card struct {
	Subject      string   `json:"subject_did"`
	Schema       Schema   `json:"card_schema"`
	Seq          uint64   `json:"seq"`
	IssuedAt     uint64   `json:"issued_at"`  // unix seconds
	NotBefore    uint64   `json:"not_before"` // unix seconds
	Capabilities []string `json:"capabilities"`
	Critical     []string `json:"critical_extensions"`
	Envelope     Envelope `json:"envelope,omitzero"`

	Name       string                    `json:"name,omitempty"`
	Endpoints  []Endpoint                `json:"endpoints,omitempty"`
	Extensions map[string]jsontext.Value `json:"extensions,omitempty"`

	Description     string           `json:"description,omitempty"`
	Skills          []jsontext.Value `json:"skills,omitempty"`
	Genome          jsontext.Value   `json:"genome,omitempty"`
	DelegationProof jsontext.Value   `json:"delegation_proof,omitempty"`
	Domains         jsontext.Value   `json:"domains,omitempty"`
	Lineage         jsontext.Value   `json:"lineage,omitempty"`
	ID              jsontext.Value   `json:"id,omitempty"`
	Version         jsontext.Value   `json:"version,omitempty"`
	Tools           jsontext.Value   `json:"tools,omitempty"`
	Constraints     jsontext.Value   `json:"constraints,omitempty"`
	DID             jsontext.Value   `json:"did,omitempty"`
	Metadata        jsontext.Value   `json:"metadata,omitempty"`
}

// Schema is the version of the format. Minor is not signed.
type Schema struct {
	Major uint64  `json:"major"`
	Minor *uint64 `json:"minor,omitzero"`
}

// Envelope is the detached signature.
type Envelope struct {
	Signer string `json:"signer_aid"`
	KeySeq uint64 `json:"key_state_seq"`
	Alg    string `json:"alg"`
	Sig    string `json:"sig"`
}

// Endpoint is an address of the agent.
type Endpoint struct {
	Protocol string   `json:"protocol"`
	URI      string   `json:"uri"`
	Methods  []string `json:"methods,omitempty"`
}

// Preimage is what is signed.
func (c *Card) Preimage() ([]byte, error) {
	view := *c
	view.Envelope, view.Schema.Minor = Envelope{}, nil
	raw, err := json.Marshal(view)
	if err != nil {
		return nil, err
	}
	return codec.CanonicalJSON(raw)
}

// SigningInput is the text an Ed25519 signature is made over.
func SigningInput(preimage []byte) []byte {
	return []byte(jwsHeader + "." + codec.EncodeB64u(preimage))
}

// Sign puts the signature of k into the envelope.
func (c *Card) Sign(k *identity.Controller) error {
	preimage, err := c.Preimage()
	if err != nil {
		return err
	}
	sig := codec.EncodeB64u(k.Sign(SigningInput(preimage)))
	c.Envelope = Envelope{Signer: k.AID(), KeySeq: k.Seq(), Alg: alg, Sig: jwsHeader + ".." + sig}
	return nil
}

// Offer is what a node tells the gateway of its hub.
type Offer struct {
	Name         string
	Capabilities []string
	Prices       map[string]uint64 // whole credits, by capability id
	RedeemAt     string            // where vouchers are taken, if anywhere
}

// Sign makes the card of an offer, newer than sequence last.
func (o Offer) Sign(k *identity.Controller, last uint64, now time.Time) ([]byte, error) {
	seconds := uint64(now.Unix())
	c := Card{
		Subject: k.AID(), Schema: Schema{Major: 1, Minor: new(uint64)}, Name: o.Name, Capabilities: o.Capabilities,
		Seq: max(seconds, last+1), IssuedAt: seconds, NotBefore: seconds - 60,
	}
	if o.RedeemAt != "" {
		c.Endpoints = []Endpoint{{redeemProtocol, o.RedeemAt, []string{"POST"}}}
	}
	if len(o.Prices) > 0 {
		prices, err := json.Marshal(o.Prices)
		if err != nil {
			return nil, err
		}
		c.Extensions = map[string]jsontext.Value{pricing: prices}
	}
	if err := c.Sign(k); err != nil {
		return nil, err
	}
	return c.encode(o)
}

// encode reads the card back: what a hub would refuse is not sent.
func (c *Card) encode(o Offer) ([]byte, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	back, err := Read(raw)
	if err != nil {
		return nil, err
	}
	for id, price := range o.Prices {
		if got, ok := back.Price(id); !ok || got != price {
			return nil, card.Refuse(Malformed, "the price of %q is not between 1 and %d", id, uint64(maxInteger))
		}
	}
	return raw, nil
}

// Price is what the agent consents to sell a capability for: a whole number of
// credits, as a JSON number or a decimal string. Anything else is no consent.
func (c *Card) Price(capID string) (uint64, bool) {
	return price(c.pricing()[capID])
}

// Prices are all that Price would give.
func (c *Card) Prices() map[string]uint64 {
	prices := map[string]uint64{}
	for id, raw := range c.pricing() {
		if n, ok := price(raw); ok {
			prices[id] = n
		}
	}
	return prices
}

func (c *Card) pricing() (prices map[string]jsontext.Value) {
	if json.Unmarshal(c.Extensions[pricing], &prices) != nil {
		return nil
	}
	return prices
}

func price(raw jsontext.Value) (uint64, bool) {
	text := raw.String()
	if unquoted, err := jsontext.AppendUnquote(nil, text); err == nil {
		text = string(unquoted)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil && n > 0 && n <= maxInteger && strconv.FormatUint(n, 10) == text
}

// RedeemAt is where the agent takes vouchers, empty when nowhere.
func (c *Card) RedeemAt() string {
	for _, e := range c.Endpoints {
		if e.Protocol == redeemProtocol {
			return e.URI
		}
	}
	return ""
}
