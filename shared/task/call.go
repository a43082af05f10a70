package task

import (
	"bytes"
	"encoding/json"

	"github.com/anet-hub/anet/shared/codec"
)

// The fixed words of a TaskDoc (sections F.2 and G.1).
const (
	requireCapability = "capability"
	contextArgs       = "args"
	contextNonce      = "anet.nonce"
	formatJSON        = "json"
	formatText        = "text"
)

// MaxArgs bounds the arguments of a call. They are read before anybody was
// asked whether the caller may call, and cost many times their size.
const MaxArgs = 4 << 20

// Call is a structured call of a capability.
type Call struct {
	Capability string
	Args       json.RawMessage // a JSON object, compact
}

// NewText asks for work in words, under a fresh nonce.
func NewText(goal string) TaskDoc {
	return newDoc(Task{Intent: Intent{Format: formatText, Body: goal}})
}

// NewCall asks for a capability, under a fresh nonce. Args is a JSON object;
// none is an empty one.
func NewCall(capID string, args json.RawMessage) (TaskDoc, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	text, ok := objectText(args)
	if !ok {
		return TaskDoc{}, badDoc("needs arguments that are one unambiguous JSON object of at most %d bytes", MaxArgs)
	}
	goal := "invoke capability " + capID
	return newDoc(Task{
		Intent:   Intent{Summary: goal, Body: goal},
		Requires: []Require{{ID: capID, Type: requireCapability, Necessity: "must"}},
		Contexts: []Context{{Key: contextArgs, Value: string(text), Format: formatJSON}},
	}), nil
}

func newDoc(t Task) TaskDoc {
	t.Contexts = append(t.Contexts, Context{Key: contextNonce, Value: NewNonce(), Visibility: "private"})
	return TaskDoc{Version: Version{Major: 1}, Tasks: []Task{t}}
}

// Goal is what is asked for in words.
func (d TaskDoc) Goal() string {
	in := d.first().Intent
	if in.Body == "" {
		return in.Summary
	}
	return in.Body
}

// Nonce is the request's random part as it was written, "" when it has none.
// A payment is bound to that text, not to what it decodes to.
func (d TaskDoc) Nonce() string {
	for _, c := range d.first().Contexts {
		if c.Key == contextNonce {
			return c.Value
		}
	}
	return ""
}

// Call reads the document as a capability call. Arguments that are no object,
// that two readers could understand differently, or that are larger than
// MaxArgs, make it a request in words.
func (d TaskDoc) Call() (Call, bool) {
	id := d.capability()
	if id == "" {
		return Call{}, false
	}
	args, ok := objectText([]byte(d.args()))
	if !ok {
		return Call{}, false
	}
	return Call{id, args}, true
}

func (d TaskDoc) capability() string {
	for _, r := range d.first().Requires {
		if r.Type == requireCapability && r.ID != "" {
			return r.ID
		}
	}
	return ""
}

func (d TaskDoc) args() string {
	for _, c := range d.first().Contexts {
		if c.Key == contextArgs && c.Format == formatJSON {
			return c.Value
		}
	}
	return "{}"
}

func (d TaskDoc) first() Task {
	if len(d.Tasks) == 0 {
		return Task{}
	}
	return d.Tasks[0]
}

// objectText gives a JSON object in compact form. Its length is what admission
// counts (section L.2).
func objectText(b []byte) (json.RawMessage, bool) {
	var object map[string]json.RawMessage
	if len(b) > MaxArgs || codec.UnmarshalObject(b, &object) != nil {
		return nil, false
	}
	var out bytes.Buffer
	err := json.Compact(&out, b)
	return out.Bytes(), err == nil
}
