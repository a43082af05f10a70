package node

import (
	"encoding/json"
	"time"
)

// FindQuery is one question to the directory.
type FindQuery struct {
	Text   string `json:"text,omitempty"`
	Cap    string `json:"cap,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// Found is the hub's answer, its statement and no proof.
type Found struct {
	Agents     []Agent `json:"agents"`
	NextCursor string  `json:"next_cursor,omitempty"`
}

// Agent is a directory entry. Tags are the capabilities that no card vouches for.
type Agent struct {
	AID          string   `json:"aid"`
	Name         string   `json:"name"`
	Capabilities []string `json:"caps"`
	Tags         []string `json:"tags,omitempty"`
	Summary      string   `json:"summary,omitempty"`
	Pricing      string   `json:"pricing,omitempty"`
	Rating       float64  `json:"avg_rating"`
	Reviews      int64    `json:"review_count"`
	HomeHub      string   `json:"home_hub,omitempty"`
	LastSeen     string   `json:"last_seen,omitempty"`
	Quiet        bool     `json:"quiet,omitempty"`
	Charge       string   `json:"charge,omitempty"` // by its public card: free, some, all
}

// Card is an agent's card and what checking it gave.
type Card struct {
	AID      string          `json:"aid"`
	Verified bool            `json:"verified"`
	Code     string          `json:"code,omitempty"` // why it is not verified (H.4)
	Card     json.RawMessage `json:"card"`
	Rating   float64         `json:"avg_rating"` // the hub's word
	Reviews  int64           `json:"review_count"`
	// Charge is what the public card says of prices: free, some or all.
	Charge string `json:"charge,omitempty"`
	// Prices are what the agent signed; PricesError is why there are none although
	// there may be some.
	Prices      *Prices `json:"prices,omitempty"`
	PricesError string  `json:"prices_error,omitempty"`
}

// What a card says of prices.
const (
	ChargeFree = "free"
	ChargeSome = "some"
	ChargeAll  = "all"
)

// Prices are what an agent signed that its capabilities cost. A payment follows
// the quote of its task; a quote above these is not paid without a person.
type Prices struct {
	Network  string          `json:"network"`
	Skills   []SkillPrice    `json:"skills"`
	Source   string          `json:"source"`   // extended or public: the card they stand on
	Verified bool            `json:"verified"` // the signature holds
	Fetched  *time.Time      `json:"fetched,omitempty"`
	Card     json.RawMessage `json:"card,omitempty"` // the extended one
}

// SkillPrice is one of them: credits as a decimal string, 0 for free.
type SkillPrice struct {
	ID     string `json:"id"`
	Amount string `json:"amount"`
}

// List is one of the three lists of peers.
type List string

// The lists. Trust includes what allow permits.
const (
	Allow List = "allow"
	Trust List = "trust"
	Deny  List = "deny"
)

// Peers are the lists as they stand in the files now.
type Peers struct {
	Allow []string `json:"allow"`
	Trust []string `json:"trust"`
	Deny  []string `json:"deny"`
}
