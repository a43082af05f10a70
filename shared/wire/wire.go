// Package wire holds what hub and node say to each other over HTTP: header
// names, the bodies of the hub API (wire 2, section I) and the one table of
// kinds and statuses.
//
// Members marked "ours" are additions another implementation may ignore. A
// reader must not depend on them being there.
package wire

import "time"

// Version is the hub wire both sides speak (wire 2, C.4).
const Version = 2

// Header names of wire 2, section C.
const (
	HeaderVersion = "X-ANet-Wire"
	HeaderAID     = "X-ANet-AID"
	HeaderTime    = "X-ANet-TS"
	HeaderSeq     = "X-ANet-Seq"
	HeaderSig     = "X-ANet-Sig"
	HeaderRequest = "X-Request-ID" // ours
)

// Actions of signed requests (wire 2, C.2). The action is fixed by the route.
const (
	ActionSend       = "send"
	ActionPoll       = "poll"
	ActionAck        = "ack"
	ActionRegister   = "register"
	ActionProfile    = "profile"
	ActionVisibility = "visibility"
	ActionDeregister = "deregister"
	ActionP2P        = "p2p"
	ActionKeys       = "keys"
	ActionProbe      = "probe" // ours
	ActionWhy        = "why"   // ours
)

// Times and sizes both sides must agree on.
const (
	MaxWait          = 55 * time.Second // the longest wait_ms a hub of ours grants
	QuietAfter       = time.Hour        // without a poll for this long an agent is quiet (I.5)
	HiddenAfter      = 30 * 24 * time.Hour
	MailLifetime     = 14 * 24 * time.Hour // what a hub keeps, and what a sender sets as exp
	MaxEnvelopeBytes = 96 << 20
	MaxCaps          = 256
	MaxCapBytes      = 256
)

// Identity answers GET /hub/identity. PublicURL is ours: where others reach
// this hub, for a node that dials another address; cards name it.
type Identity struct {
	AID       string `json:"aid"`
	KEL       []byte `json:"kel"`
	PublicURL string `json:"public_url,omitempty"`
}

// Index answers GET / where no page is wanted and nothing is asked for. It is
// ours: where a program goes on from here.
type Index struct {
	AID       string `json:"aid"`
	Wire      int    `json:"wire"`
	Version   string `json:"version"`
	PublicURL string `json:"public_url,omitempty"`
	Agents    string `json:"agents"`
	Cards     string `json:"cards"`
	Identity  string `json:"identity"`
	Limits    string `json:"limits"`
	OpenAPI   string `json:"openapi"`
	Guide     string `json:"guide"`
}

// Probed answers POST /hub/probe, ours: what arrived of a request of the hub's
// own operator.
type Probed struct {
	Client      string `json:"client"` // what rates count by
	Peer        string `json:"peer"`   // who connected
	PeerTrusted bool   `json:"peer_trusted"`
	ProxyHeader string `json:"proxy_header"` // where a trusted peer is asked for the client
	Bytes       int64  `json:"bytes"`
	HubTimeMS   int64  `json:"hub_time_ms"`
}

// Problem is the body of every failed request. Code, RequestID and Field are
// ours; a foreign hub sends Error alone. Hint goes with a refused invite.
type Problem struct {
	Error        string `json:"error"`
	Hint         string `json:"hint,omitempty"`
	Code         string `json:"code,omitempty"`
	Field        string `json:"field,omitempty"`
	RequestID    string `json:"request_id,omitempty"`
	RequiredWire int    `json:"required_wire,omitempty"` // with 426
}

// Register is the body of POST /register (wire 2, I.3). A2ACard distinguishes
// absent, null (withdraw) and an object, so it is kept as the raw member.
type Register struct {
	AID     string   `json:"aid"`
	Name    string   `json:"name"`
	Caps    []string `json:"caps"`
	Summary string   `json:"summary"`
	Readme  string   `json:"readme"`
	Pricing string   `json:"pricing"`
	KEL     []byte   `json:"kel"`
	Invite  string   `json:"invite"`
	Card    RawJSON  `json:"card,omitzero"`
	EncKeys []byte   `json:"enc_keys,omitempty"`
	A2ACard RawJSON  `json:"a2a_card,omitzero"`
}

// Codes of a registration that an invitation-only hub refuses with 403 (wire 2,
// I.3). They are ours; the five cases are everybody's.
const (
	InviteRequired = "invite_required"
	InviteUnknown  = "invite_unknown"
	InviteRevoked  = "invite_revoked"
	InviteExpired  = "invite_expired"
	InviteUsedUp   = "invite_used_up"
)

// Registered answers POST /register. The statuses are those of steps 14 and 15
// of I.3; the counts and IgnoredCaps are ours.
type Registered struct {
	AID         string   `json:"aid"`
	Status      string   `json:"status"`
	KeysStatus  string   `json:"keys_status"`
	KeysError   string   `json:"keys_error,omitempty"`
	CardStatus  string   `json:"card_status"`
	CardError   string   `json:"card_error,omitempty"`
	Added       int      `json:"added"`
	Removed     int      `json:"removed"`
	Unchanged   int      `json:"unchanged"`
	IgnoredCaps []string `json:"ignored_caps,omitempty"`
}

// Profile is the body of POST /profile.
type Profile struct {
	AID     string `json:"aid,omitempty"`
	Summary string `json:"summary"`
	Readme  string `json:"readme"`
	Pricing string `json:"pricing"`
}

// Visibility is the body of POST /agents/{aid}/visibility.
type Visibility struct {
	Visibility string `json:"visibility"`
}

// Deregistered answers POST /agents/{aid}/deregister; Undelivered counts the
// messages that went with the mailbox.
type Deregistered struct {
	AID         string `json:"aid"`
	Status      string `json:"status"`
	Undelivered int64  `json:"undelivered"`
	Warning     string `json:"warning,omitempty"`
}

// Keyset is the body of POST /agents/{aid}/keys.
type Keyset struct {
	Keyset []byte `json:"keyset"`
}

// KeysStored answers it.
type KeysStored struct {
	AID        string `json:"aid"`
	KeysStatus string `json:"keys_status"`
}

// Lookup is the body of the POST look-ups, which keep AIDs out of request lines.
type Lookup struct {
	AID string `json:"aid"`
}

// Keys answers a key look-up (I.6). The caller verifies it against the AID it wants.
type Keys struct {
	AID    string `json:"aid"`
	Keyset []byte `json:"keyset"`
	KEL    []byte `json:"kel"`
}

// KEL answers GET /agents/{aid}/kel.
type KEL struct {
	AID    string `json:"aid"`
	KEL    []byte `json:"kel"`
	Source string `json:"source,omitempty"`
	Role   string `json:"role,omitempty"`
	Note   string `json:"note,omitempty"`
}

// P2P is the body of POST /agents/{aid}/p2p.
type P2P struct {
	Addr string `json:"addr"`
}

// P2PAddress answers GET /agents/{aid}/p2p.
type P2PAddress struct {
	AID  string    `json:"aid"`
	Addr string    `json:"addr"`
	At   time.Time `json:"at"`
}

// Agent is the AgentView of I.5. Tags is ours: the part of Caps that is no
// skill of the admitted card. Visibility, ours too, is told of an agent that is
// registered here where it is shown alone, and in no list.
type Agent struct {
	AID          string     `json:"aid"`
	Name         string     `json:"name"`
	Caps         []string   `json:"caps"`
	Tags         []string   `json:"tags,omitempty"`
	Summary      string     `json:"summary,omitempty"`
	Readme       string     `json:"readme,omitempty"`
	Pricing      string     `json:"pricing,omitempty"`
	Listed       bool       `json:"listed"`
	AvgRating    float64    `json:"avg_rating"`
	ReviewCount  int64      `json:"review_count"`
	RegisteredAt time.Time  `json:"registered_at"`
	HomeHub      string     `json:"home_hub,omitempty"`
	Departed     bool       `json:"departed,omitempty"`
	Registered   bool       `json:"registered"`
	LastSeen     *time.Time `json:"last_seen,omitempty"`
	Quiet        bool       `json:"quiet,omitempty"`
	Visibility   string     `json:"visibility,omitempty"`
}

// Agents answers GET /agents. Limit and NextCursor are ours.
type Agents struct {
	Agents     []Agent `json:"agents"`
	Limit      int     `json:"limit,omitempty"`
	NextCursor string  `json:"next_cursor,omitempty"`
}

// AgentPage answers GET /agents/{aid}. A reader that wants a review decodes it
// as a Review; those of a foreign hub may look different. NextCursor, to the
// agent's further reviews, is ours.
type AgentPage struct {
	Agent      Agent     `json:"agent"`
	Reviews    []RawJSON `json:"reviews"`
	Note       string    `json:"note,omitempty"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// Send is the body of POST /relay/send.
type Send struct {
	ToAID    string `json:"to_aid"`
	Envelope []byte `json:"envelope"`
}

// Sent answers it: queued here, or forwarded to the hub named.
type Sent struct {
	ID             int64  `json:"id,omitempty"`
	Status         string `json:"status"`
	ViaHub         string `json:"via_hub,omitempty"`
	RecipientQuiet bool   `json:"recipient_quiet,omitempty"`
	Warning        string `json:"warning,omitempty"`
}

// Poll is the body of POST /relay/poll. WaitMS is ours: how long the hub may
// hold the answer back while the mailbox is empty.
type Poll struct {
	Limit   int    `json:"limit,omitempty"`
	AfterID int64  `json:"after_id,omitempty"`
	WaitMS  *int64 `json:"wait_ms,omitempty"`
}

// Message is one stored envelope.
type Message struct {
	ID       int64  `json:"id"`
	Envelope []byte `json:"envelope"`
}

// Polled answers a poll. WaitMS echoes the wait granted; a node that doesn't
// see it polls every second.
type Polled struct {
	Messages []Message `json:"messages"`
	WaitMS   *int64    `json:"wait_ms,omitempty"`
}

// Ack is the body of POST /relay/ack.
type Ack struct {
	IDs []int64 `json:"ids"`
}

// Acked answers it with the number of rows deleted.
type Acked struct {
	Acked int64 `json:"acked"`
}

// RawJSON is a member kept as it was written; nil when absent.
type RawJSON []byte

// MarshalJSON writes the member as it is, null when it is empty.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy.
func (r *RawJSON) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0:0], b...)
	return nil
}

// Done answers where there is nothing to tell but that it was done.
type Done struct {
	AID    string `json:"aid"`
	Status string `json:"status"`
}

// VisibilitySet answers POST /agents/{aid}/visibility.
type VisibilitySet struct {
	AID        string `json:"aid"`
	Visibility string `json:"visibility"`
}

// P2PStored answers POST /agents/{aid}/p2p: published or withdrawn.
type P2PStored struct {
	AID    string `json:"aid"`
	Status string `json:"status"`
	Addr   string `json:"addr"`
}

// P2PPeers answers GET /p2p/peers.
type P2PPeers struct {
	Peers []P2PAddress `json:"peers"`
	Count int          `json:"count"`
}

// CardEntry is one agent of GET /a2a/v1/agents.
type CardEntry struct {
	AID              string     `json:"aid"`
	Card             RawJSON    `json:"card"`
	CardVerification string     `json:"cardVerification"`
	VerifiedAt       time.Time  `json:"verifiedAt"`
	HomeHub          string     `json:"homeHub"`
	LastSeen         *time.Time `json:"lastSeen,omitempty"`
	Quiet            bool       `json:"quiet"`
	ReviewCount      int64      `json:"reviewCount"`
	AvgRating        float64    `json:"avgRating"`
}

// Cards answers GET /a2a/v1/agents. NextCursor is absent on the last page;
// Limit is ours.
type Cards struct {
	Agents     []CardEntry `json:"agents"`
	Limit      int         `json:"limit"`
	NextCursor string      `json:"nextCursor,omitempty"`
}

// Stats answers GET /stats.
type Stats struct {
	Agents          int64    `json:"agents"`
	FederatedAgents int64    `json:"federated_agents"`
	TasksCompleted  int64    `json:"tasks_completed"`
	Reviews         int64    `json:"reviews"`
	AvgRating       float64  `json:"avg_rating"`
	Modules         []string `json:"modules"`
}
