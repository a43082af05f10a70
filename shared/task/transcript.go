package task

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// The bounds of a transcript read from a peer, in bytes and in turns together
// with their attachments: an empty one takes a hundred times its three bytes.
// A larger deliverable keeps its receipt; it is only not shown as a
// conversation.
const (
	MaxTranscript = 8 << 20
	MaxTurns      = 20_000
)

// The sides of a conversation.
const (
	FromRequester = "requester"
	FromProvider  = "provider"
)

// Transcript is the deliverable of a text task (section F.8). The receipt
// covers what the provider wrote down; it proves nothing about what the
// requester said.
type Transcript struct {
	Version  int    `json:"v"`
	Nonce    string `json:"nonce"`
	Messages []Turn `json:"messages"`
}

// Turn is one message of a transcript. Its attachments are described, not held.
type Turn struct {
	From        string       `json:"from"`
	Body        string       `json:"body"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// NewTranscript writes down a conversation under a fresh nonce.
func NewTranscript(turns []Turn) Transcript {
	return Transcript{Version: 2, Nonce: NewNonce(), Messages: append([]Turn{}, turns...)}
}

// Bytes is the deliverable.
func (t Transcript) Bytes() ([]byte, error) { return codec.MarshalJSON(t) }

// Conversation reports whether a message belongs in the transcript: a text
// that is neither part of a payment nor news of a state, except the provider's
// last words.
func Conversation(m ChatMsg, meta Metadata) bool {
	if m.Kind != KindText || meta.Pays() {
		return false
	}
	return meta.State() == "" || meta.Flag(KeyFinal)
}

// ParseTranscript reads a deliverable, also in the older form of a bare list.
func ParseTranscript(b []byte) (Transcript, error) {
	if len(b) > MaxTranscript {
		return Transcript{}, badTranscript("is larger than %d bytes", MaxTranscript)
	}
	if objects(b) > MaxTurns {
		return Transcript{}, badTranscript("has more than %d turns", MaxTurns)
	}
	t, err := readTranscript(b)
	if err != nil {
		return Transcript{}, err
	}
	for _, m := range t.Messages {
		if m.From != FromRequester && m.From != FromProvider {
			return Transcript{}, badTranscript("has a message from %.40q", m.From)
		}
	}
	return t, nil
}

func readTranscript(b []byte) (t Transcript, err error) {
	if bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("[")) {
		t = Transcript{Version: 2}
		err = codec.UnmarshalJSON(b, &t.Messages)
	} else {
		err = codec.UnmarshalObject(b, &t)
	}
	switch {
	case err != nil:
		return t, badTranscript("cannot be read").Because(err)
	case t.Version != 2:
		return t, badTranscript("has version %d", t.Version)
	case t.Messages == nil:
		return t, badTranscript("holds no list of messages")
	}
	return t, nil
}

// objects counts the JSON objects in b, as far as it is JSON.
func objects(b []byte) (n int) {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		t, err := d.ReadToken()
		if err != nil || n > MaxTurns {
			return n
		}
		if t.Kind() == '{' {
			n++
		}
	}
}

func badTranscript(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "bad-transcript", "the transcript "+format, args...)
}
