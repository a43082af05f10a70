package task

import (
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// The kinds of ChatMsg. Another kind is dropped.
const (
	KindText          = "text"
	KindEndRequest    = "end_request"
	KindCancel        = "cancel"
	KindStreamPreview = "stream_preview" // replaced in place by StreamSeq, never stored
)

// ChatMsg is one turn of a conversation (section F.3). MsgID is the sender's
// word: it is looked up only inside the task the message arrived on.
type ChatMsg struct {
	Kind        string       `cbor:"1,keyasint"`
	Body        string       `cbor:"2,keyasint,omitempty"`
	Attachments []Attachment `cbor:"3,keyasint,omitempty"`
	StreamSeq   uint64       `cbor:"4,keyasint,omitempty"`
	StreamAt    int64        `cbor:"5,keyasint,omitempty"`
	Reasoning   string       `cbor:"6,keyasint,omitempty"`
	ReasoningAt int64        `cbor:"7,keyasint,omitempty"`
	MsgID       string       `cbor:"9,keyasint,omitempty"` // 8 stays free
	Metadata    []byte       `cbor:"10,keyasint,omitempty"`
}

// StatusMsg is news of a task's state from its provider (section F.4).
type StatusMsg struct {
	State    State  `cbor:"1,keyasint"`
	Text     string `cbor:"2,keyasint,omitempty"`
	Metadata []byte `cbor:"3,keyasint,omitempty"`
	At       int64  `cbor:"4,keyasint,omitempty"`
}

// Check refuses a state no status message may name. It is dropped, not mapped
// to a neighbour: a guess could end a task that goes on.
func (s StatusMsg) Check() error {
	switch s.State {
	case Submitted, Working, InputRequired, Rejected, Canceled, Failed:
		return nil
	}
	return errs.New(errs.Invalid, "bad-status-state", "a status message cannot say %.40q", string(s.State))
}

// What a ResultResp says of itself.
const (
	StatusDone   = "done"
	StatusFailed = "failed"
)

// ResultResp ends a task with a deliverable and the provider's signed receipt
// for it (section F.5). Nothing in it counts before CheckReceipt accepted it.
type ResultResp struct {
	Status      string `cbor:"1,keyasint"`
	Deliverable []byte `cbor:"2,keyasint"`
	Receipt     []byte `cbor:"3,keyasint"`
	KEL         []byte `cbor:"4,keyasint,omitempty"`
	Metadata    []byte `cbor:"5,keyasint,omitempty"`
}

// ResultStatus is the word that goes with a state.
func ResultStatus(s State) string {
	if s == Failed || s == Rejected {
		return StatusFailed
	}
	return StatusDone
}

// Body is what a message of one type carries.
type Body interface {
	DelegateReq | ChatMsg | StatusMsg | ResultResp | CardRequest | CardAnswer
}

// Parse reads a body. Unknown members are ignored and null reads as empty.
func Parse[B Body](raw []byte) (B, error) {
	var b B
	if len(raw) == 0 || raw[0]>>5 != majorMap {
		return b, errs.New(errs.Invalid, "bad-body", "the message body is no CBOR map")
	}
	if err := codec.Unmarshal(raw, &b); err != nil {
		return b, errs.New(errs.Invalid, "bad-body", "the message body does not have the shape of its type").Because(err)
	}
	return b, nil
}

// Encode writes a body for the wire.
func Encode[B Body](b B) ([]byte, error) { return codec.Marshal(b) }

// majorMap is the CBOR major type of a map; a body of null would otherwise
// read as an empty one.
const majorMap = 5
