package wire

// Limits answers GET /limits, all of it ours: what a hub holds requests to.
// Sizes are in bytes, times in milliseconds. A client has to live with members
// that are missing: another hub has other limits.
type Limits struct {
	Bodies       BodyLimits           `json:"bodies"`
	Registration RegistrationLimits   `json:"registration"`
	Questions    QuestionLimits       `json:"questions"`
	Pages        map[string]PageLimit `json:"pages"`
	Mailbox      MailboxLimits        `json:"mailbox"`
	Rates        []RateLimit          `json:"rates"`
	Signatures   SignatureLimits      `json:"signatures"`
	Times        TimeLimits           `json:"times"`
	Federation   FederationLimits     `json:"federation,omitzero"`
}

// BodyLimits bound the bodies of requests, and how slowly they may come: all in
// GraceMS, or else BytesPerSecond from there on.
type BodyLimits struct {
	Send           int64 `json:"send"`
	Signed         int64 `json:"signed"`
	Lookup         int64 `json:"lookup"`
	Review         int64 `json:"review"`
	Payment        int64 `json:"payment"`
	GraceMS        int64 `json:"grace_ms"`
	BytesPerSecond int64 `json:"bytes_per_second"`
}

// RegistrationLimits bound what an agent says of itself.
type RegistrationLimits struct {
	Caps    int `json:"caps"`
	Cap     int `json:"cap"`
	Name    int `json:"name"`
	Summary int `json:"summary"`
	Readme  int `json:"readme"`
	Pricing int `json:"pricing"`
	KEL     int `json:"kel"`
	Keyset  int `json:"keyset"`
	Card    int `json:"card"`
	Address int `json:"address"`
}

// QuestionLimits bound what a list can be asked.
type QuestionLimits struct {
	Terms int `json:"terms"` // of ?cap=
	Text  int `json:"text"`
}

// PageLimit bounds one answer of a list.
type PageLimit struct {
	Default int   `json:"default"`
	Most    int   `json:"most"`
	Bytes   int64 `json:"bytes"`
}

// MailboxLimits bound what waits for a recipient.
type MailboxLimits struct {
	Envelope   int64 `json:"envelope"`
	Messages   int64 `json:"messages"`
	Bytes      int64 `json:"bytes"`
	LifetimeMS int64 `json:"lifetime_ms"`
	Acks       int   `json:"acks"` // ids in one acknowledgement
}

// RateLimit grants Quota requests at once, and as many again in WindowMS, to
// each agent or address. Policy is the name in the RateLimit headers and the
// code of the refusal.
type RateLimit struct {
	Policy   string `json:"policy"`
	Per      string `json:"per"`
	Quota    int    `json:"quota"`
	WindowMS int64  `json:"window_ms"`
}

// SignatureLimits bound signed requests: how far their date may be off, how long
// they are remembered, and how many at once (wire 2, C.3).
type SignatureLimits struct {
	SkewMS       int64 `json:"skew_ms"`
	RememberedMS int64 `json:"remembered_ms"`
	PerAgent     int64 `json:"per_agent"`
	Total        int64 `json:"total"`
}

// TimeLimits are the longest wait of a poll, and after how long without a poll
// an agent is quiet, and hidden from lists.
type TimeLimits struct {
	WaitMS   int64 `json:"wait_ms"`
	QuietMS  int64 `json:"quiet_after_ms"`
	HiddenMS int64 `json:"hidden_after_ms"`
}

// FederationLimits are what a peer is held to: the body of a forward, how far its
// date may be off and how long it is known again, how many may come at once and in
// which time as many again, and what one peer may teach.
type FederationLimits struct {
	Forward      int64 `json:"forward"`
	Hops         int   `json:"hops"`
	SkewMS       int64 `json:"skew_ms"`
	RememberedMS int64 `json:"remembered_ms"`
	Quota        int   `json:"quota"`
	WindowMS     int64 `json:"window_ms"`
	Agents       int64 `json:"agents"`
	Bytes        int64 `json:"bytes"`
}
