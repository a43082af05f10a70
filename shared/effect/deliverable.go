package effect

import (
	"encoding/json"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// MaxDeliverable bounds the deliverable of a call read from a peer: a service
// answers at most 1 MiB, and JSON may grow when it is written again.
const MaxDeliverable = 4 << 20

// Deliverable is what a call hands back, and what its receipt covers (section
// G.2). Its nonce keeps the content id of a short answer from being guessed.
type Deliverable struct {
	Capability      string          `json:"capability"`
	Status          Status          `json:"status"`
	Nonce           string          `json:"nonce"`
	Verifiable      bool            `json:"verifiable"`
	Metrics         json.RawMessage `json:"metrics,omitempty"` // an object
	Message         string          `json:"message,omitempty"`
	Evidence        *Evidence       `json:"evidence,omitempty"`
	PaymentRequired json.RawMessage `json:"payment_required,omitempty"`
	Paid            *Paid           `json:"paid,omitempty"`
}

// Evidence is how the provider came to its status. VerifyTrust and AuthTrust
// are its own grades, higher is surer.
type Evidence struct {
	AuthTrust     int    `json:"auth_trust"`
	VerifyTrust   int    `json:"verify_trust"`
	Protocol      string `json:"protocol,omitempty"`
	Requested     string `json:"requested,omitempty"`
	ObservedState string `json:"observed_state,omitempty"`
	Quirk         string `json:"quirk,omitempty"`
	NativeAck     bool   `json:"native_ack,omitempty"`
	LatencyMS     int64  `json:"latency_ms,omitempty"`
}

// Paid names the payment a call was made for.
type Paid struct {
	Transaction string `json:"transaction"`
	Amount      string `json:"amount"`
	Network     string `json:"network"`
	Receipt     string `json:"receipt,omitempty"` // base64
}

// New begins the deliverable of a call under a fresh nonce.
func New(capID string, s Status) Deliverable {
	return Deliverable{Capability: capID, Status: s, Nonce: task.NewNonce()}
}

// Bytes is the deliverable for the wire, compact. A member that holds no JSON
// is an error here rather than at the requester.
func (d Deliverable) Bytes() ([]byte, error) { return codec.MarshalJSON(d) }

// Parse reads a deliverable. It is refused when two readers could understand
// it differently; a status that has no name here reads as UNVERIFIED.
func Parse(b []byte) (Deliverable, error) {
	var d Deliverable
	if len(b) > MaxDeliverable {
		return d, bad("is larger than %d bytes", MaxDeliverable)
	}
	if err := codec.UnmarshalObject(b, &d); err != nil {
		return d, bad("cannot be read").Because(err)
	}
	d.Status = Read(string(d.Status))
	return d, nil
}

func bad(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "bad-deliverable", "the deliverable "+format, args...)
}
