package task

import (
	"crypto/rand"
	"encoding/hex"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/codec"
)

// The kinds of message two nodes exchange. Another kind is dropped.
const (
	TypeDelegate = "anet.delegate/1"
	TypeMessage  = "anet.message/1"
	TypeStatus   = "anet.status/1"
	TypeResult   = "anet.result/1"
)

// MaxIDBytes bounds a foreign id; what it looks like is its owner's affair.
const MaxIDBytes = 256

// NewID mints a task id. Only the requester's node does.
func NewID() string { return "ix_" + hex.EncodeToString(random16()) }

// NewNonce gives the random part of a request or a result, which keeps its
// content id from being guessed out of a public receipt.
func NewNonce() string { return codec.EncodeB64u(random16()) }

// ValidID accepts any text a peer may have minted.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxIDBytes && utf8.ValidString(id)
}

func random16() []byte {
	b := make([]byte, 16)
	rand.Read(b) // never fails: it ends the program rather than return less
	return b
}
