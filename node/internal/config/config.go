// Package config is the one file in which an operator says what the node
// serves, to whom and within which limits. It is strict: a key that is not
// known, or not built yet, refuses the start, because a limit that is silently
// ignored opens what it was meant to close.
//
// The file belongs to the operator. The program changes single members of it
// (Update) and leaves every other byte as it was.
package config

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FileName is the file's name in the data folder.
const FileName = "config.json"

// Config is the whole file, defaults filled in.
type Config struct {
	HubURL          string     `json:"hub_url"`
	Name            string     `json:"name"`
	Tags            []string   `json:"tags"`
	Profile         Profile    `json:"profile"`
	Visibility      Visibility `json:"visibility"`
	Inbound         Inbound    `json:"inbound"`
	Modules         Modules    `json:"modules"`
	Payments        Payments   `json:"payments"`
	NoResponseAfter Duration   `json:"no_response_after"`
}

// Profile is what the operator says of the node in words of his own. The
// summary is also the description on the node's card.
type Profile struct {
	Summary string `json:"summary"`
	Readme  string `json:"readme"`
	Pricing string `json:"pricing"`
}

// Policy decides about delegations of peers on no list.
type Policy string

// The policies of this build. The approval queue is not one of them yet.
const (
	Closed Policy = "closed"
	Open   Policy = "open"
)

// Inbound says who may call.
type Inbound struct {
	Policy             Policy             `json:"policy"`
	PublicCapabilities []PublicCapability `json:"public_capabilities"`
	Strangers          Strangers          `json:"strangers"`
}

// Strangers bounds what an open node keeps of the texts of agents on no list:
// tasks without an end, and bytes until they are deleted.
type Strangers struct {
	MaxTasks       int64 `json:"max_tasks"` // of all of them
	MaxBytes       int64 `json:"max_bytes"`
	PerCallerTasks int64 `json:"per_caller_tasks"`
	PerCallerBytes int64 `json:"per_caller_bytes"`
}

// DefaultStrangers leaves a person with an inbox that can be read, and a small
// disk with most of its room.
func DefaultStrangers() Strangers {
	return Strangers{MaxTasks: 500, MaxBytes: 256 << 20, PerCallerTasks: 10, PerCallerBytes: 16 << 20}
}

// PublicCapability opens one id to everybody, within limits (wire 2, L.2).
type PublicCapability struct {
	ID                string `json:"id"`
	PerCallerPerMin   int    `json:"per_caller_per_min"`
	PerCallerPerDay   int    `json:"per_caller_per_day"`
	GlobalPerMin      int    `json:"global_per_min"`
	MaxInflight       int    `json:"max_inflight"`
	PerCallerInflight int    `json:"per_caller_inflight"`
	MaxArgsBytes      int    `json:"max_args_bytes"`
}

// DefaultPublic is a public capability of which nothing but the id was said.
func DefaultPublic(id string) PublicCapability {
	return PublicCapability{
		ID: id, PerCallerPerMin: 60, PerCallerPerDay: 2000, GlobalPerMin: 1200,
		MaxInflight: 16, PerCallerInflight: 1, MaxArgsBytes: 4096,
	}
}

// UnmarshalJSONFrom fills the defaults in first, so that a limit written as 0
// stays 0 and is refused, rather than turning into the default.
func (p *PublicCapability) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	type plain PublicCapability
	*p = DefaultPublic("")
	return json.UnmarshalDecode(d, (*plain)(p))
}

// Modules are the provider modules of this build, by name.
type Modules struct {
	Service *Service `json:"service"`
	X402    *X402    `json:"x402"`
}

// X402 is where vouchers of the hub's gateway are redeemed: an address of this
// node's own, and how others reach it.
type X402 struct {
	Listen string `json:"listen"`
	URL    string `json:"url"`
}

// Service maps capability ids to programs on this machine.
type Service struct {
	AllowTCP     bool                `json:"allow_tcp"`
	TokenFile    string              `json:"token_file"`
	TimeoutMS    int64               `json:"timeout_ms"`
	Capabilities []ServiceCapability `json:"capabilities"`
}

// ServiceCapability is one id and the program that answers it. TimeoutMS and
// TokenFile override those of the module where they are set.
type ServiceCapability struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"`
	Price       uint64   `json:"price"`
	Gateway     bool     `json:"gateway"` // sold through the hub's gateway, too
	Description string   `json:"description"`
	Name        string   `json:"name"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples"`
	InputModes  []string `json:"input_modes"`
	OutputModes []string `json:"output_modes"`
	TimeoutMS   int64    `json:"timeout_ms"`
	TokenFile   string   `json:"token_file"`
}

// DefaultTimeout bounds one call of a service program.
const DefaultTimeout = 2 * time.Minute

// DefaultNoResponse is how long a task waits for a first sign of life (L.9).
const DefaultNoResponse = 15 * time.Minute

// Payments is what the node may pay, and what it shows of what it is paid.
type Payments struct {
	Limits
	// PublicPrices shows this node's own prices on its public card.
	PublicPrices bool `json:"public_prices"`
}

// Limits bound what the node pays, in whole credits: for one call without being
// told to, on the word of a program, on the word of a person; and in a day. Wire 2,
// K.6, names them.
type Limits struct {
	AutoMax       uint64 `json:"auto_max"`
	AgentMax      uint64 `json:"agent_max"`
	AgentDailyMax uint64 `json:"agent_daily_max"`
	ExplicitMax   uint64 `json:"explicit_max"`
	DailyMax      uint64 `json:"daily_max"`
	// PayeeList keeps payments that no person made to the payees named.
	PayeeList bool     `json:"payee_list"`
	Payees    []string `json:"payees"`
}

// DefaultLimits leave every payment to a person, and bound those.
func DefaultLimits() Limits { return Limits{ExplicitMax: 10, DailyMax: 50, PayeeList: true} }

// Default is the configuration of a node that has no file: closed, nothing
// public, nothing served, nothing paid but by a person.
func Default() *Config {
	return &Config{
		Visibility:      HubLocal,
		Inbound:         Inbound{Policy: Closed, Strangers: DefaultStrangers()},
		Payments:        Payments{Limits: DefaultLimits()},
		NoResponseAfter: Duration(DefaultNoResponse),
	}
}

// Public finds the public capability with exactly this id.
func (c *Config) Public(id string) (PublicCapability, bool) {
	for _, p := range c.Inbound.PublicCapabilities {
		if p.ID == id {
			return p, true
		}
	}
	return PublicCapability{}, false
}

// Sold are the ids that are sold through the hub's gateway.
func (c *Config) Sold() (ids []string) {
	for _, s := range c.services() {
		if s.Gateway {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Limit is how long one call of the capability may take.
func (s *Service) Limit(c ServiceCapability) time.Duration {
	for _, ms := range []int64{c.TimeoutMS, s.TimeoutMS} {
		if ms > 0 {
			return time.Duration(ms) * time.Millisecond
		}
	}
	return DefaultTimeout
}

// Token is the file with the bearer token for the capability, "" for none.
func (s *Service) Token(c ServiceCapability) string {
	if c.TokenFile != "" {
		return c.TokenFile
	}
	return s.TokenFile
}

// Duration is written as in "15m"; "0" switches the limit off.
type Duration time.Duration

var errDuration = errors.New(`want a duration such as "15m", or "0" for none`)

// UnmarshalText reads the form of time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return errDuration
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
