// Package cursor writes the places that pages of a list go on from.
//
// A cursor belongs to the question it was given for: with another one its place
// would mean something else, and starting again at page one would go unnoticed.
// What it carries guards against mix-ups, not against forgers: a made-up place
// shows nothing that walking there would not.
package cursor

import (
	"bytes"
	"crypto/sha256"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// sealLen is how much of the hash over place and question a cursor carries.
const sealLen = 8

// Seal writes a place of the answer to a question.
func Seal(question string, place []byte) string {
	return codec.EncodeB64u(append(bytes.Clone(place), seal(question, place)...))
}

// Open reads it back; false when it is no cursor of this question.
func Open(question, cursor string) (place []byte, ok bool) {
	b, err := codec.DecodeB64u(cursor)
	if err != nil || len(b) < sealLen {
		return nil, false
	}
	place, sealed := b[:len(b)-sealLen], b[len(b)-sealLen:]
	return place, bytes.Equal(sealed, seal(question, place))
}

func seal(question string, place []byte) []byte {
	h := sha256.New()
	h.Write(place)
	h.Write([]byte(question))
	return h.Sum(nil)[:sealLen]
}

// Invalid is the refusal of whatever Open does not take.
func Invalid() error {
	return errs.New(errs.Invalid, "cursor_invalid",
		"this cursor belongs to no page of this question: use next_cursor as it was given, with the same question").In("cursor")
}
