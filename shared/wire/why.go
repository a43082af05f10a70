package wire

// Why answers GET /agents/{aid}/why, all of it ours: everything that decides
// whether lists of a hub show an agent, in the order in which it is to be mended.
type Why struct {
	AID    string `json:"aid"`
	Cap    string `json:"cap,omitempty"`
	Listed bool   `json:"listed"`           // lists show it now, at Cap where one was asked about
	Gate   string `json:"gate,omitempty"`   // the first that it does not pass
	Reason string `json:"reason,omitempty"` // what stands there
	Hint   string `json:"hint,omitempty"`   // what to do about it
	Gates  []Gate `json:"gates"`            // those behind one that decides about all others are left out
}

// Gate is one of them.
type Gate struct {
	Gate  string `json:"gate"`
	State string `json:"state"` // passed, failed, or warning where lists do not mind
	Says  string `json:"says"`
}

// States of a gate.
const (
	GatePassed  = "passed"
	GateFailed  = "failed"
	GateWarning = "warning"
)
