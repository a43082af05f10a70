package task

import (
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// DelegateReq asks another node for work (section F.1).
type DelegateReq struct {
	TaskDoc       Bytes              `cbor:"1,keyasint"` // as carried: its content id names the request
	Envelope      *identity.Envelope `cbor:"2,keyasint"`
	KEL           []byte             `cbor:"3,keyasint,omitempty"`
	InteractionID string             `cbor:"4,keyasint"`
	Attachments   []Attachment       `cbor:"5,keyasint,omitempty"`
	Payment       []byte             `cbor:"6,keyasint,omitempty"` // JSON, the prepaid form: read, never sent
	ContextID     string             `cbor:"7,keyasint,omitempty"`
	Metadata      []byte             `cbor:"8,keyasint,omitempty"`
}

// NewDelegate signs a request under the id of its task.
func NewDelegate(c *identity.Controller, ix string, d TaskDoc) (DelegateReq, error) {
	raw, err := d.Bytes()
	if err != nil {
		return DelegateReq{}, err
	}
	preimage, err := DocPreimage(raw)
	if err != nil {
		return DelegateReq{}, err
	}
	env := identity.SignDetached(c, preimage)
	return DelegateReq{TaskDoc: raw, Envelope: &env, InteractionID: ix}, nil
}

// RequestCID names the request in its receipt.
func (d DelegateReq) RequestCID() string { return RequestCID(d.TaskDoc) }

// Sender is what the sealed message around a body proved about it: who wrote
// it, for which task and when, and the sender's resolved key history.
type Sender struct {
	AID     string
	Ix      string
	TS      uint64 // ms
	History *identity.History
}

// Verify binds a request to the message it came in and gives the document. It
// looks at the signature last: everything before it is cheaper.
func (d DelegateReq) Verify(s Sender) (TaskDoc, error) {
	switch {
	case !ValidID(s.Ix) || d.InteractionID != s.Ix:
		return TaskDoc{}, badDelegate("is for task %.80q and came for %.80q", d.InteractionID, s.Ix)
	case d.ContextID != "" && !ValidID(d.ContextID):
		return TaskDoc{}, badDelegate("names a conversation by more than %d bytes", MaxIDBytes)
	case d.Envelope == nil:
		return TaskDoc{}, badDelegate("is not signed")
	case d.Envelope.Signer != s.AID:
		return TaskDoc{}, badDelegate("is signed by %.80q and came from %.80q", d.Envelope.Signer, s.AID)
	case !s.knows(d.KEL):
		return TaskDoc{}, badDelegate("carries another key history than its sender's")
	}
	doc, err := ParseTaskDoc(d.TaskDoc)
	if err != nil {
		return TaskDoc{}, err
	}
	preimage, err := DocPreimage(d.TaskDoc)
	if err != nil {
		return TaskDoc{}, err
	}
	if err := d.Envelope.Verify(s.History, preimage, s.TS); err != nil {
		return TaskDoc{}, badDelegate("has a signature that does not hold").Because(err)
	}
	return doc, nil
}

// knows reports whether a history inside a body is absent or the beginning of
// the one resolved: an older one is no contradiction, another one is.
func (s Sender) knows(kel []byte) bool {
	if len(kel) == 0 {
		return true
	}
	if s.History == nil {
		return false
	}
	r, err := identity.Compare(kel, s.History.Raw())
	return err == nil && (r == identity.Equal || r == identity.Shorter)
}

func badDelegate(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "bad-delegate", "the request "+format, args...)
}
