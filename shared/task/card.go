package task

import "encoding/hex"

// The messages by which a node asks another for its extended card (wire 2,
// section H.7). They are ours: a node that does not know them drops them.
const (
	TypeCardRequest = "anet.card_request/1"
	TypeCard        = "anet.card/1"
)

// What a CardAnswer says of itself.
const (
	CardOK            = "ok"
	CardNotConfigured = "not_configured" // it would say nothing beyond the public card
	CardBusy          = "busy"
)

// The variants of an extended card: for everybody, and for who is on a list.
const (
	CardGeneral = "general"
	CardList    = "list"
)

// CardNonceBytes is the length of the nonce of a request.
const CardNonceBytes = 16

// CardRequest asks for an extended card.
type CardRequest struct {
	Nonce []byte `cbor:"1,keyasint"`
}

// CardAnswer gives it, for the request of that nonce.
type CardAnswer struct {
	Nonce   []byte `cbor:"1,keyasint"`
	Status  string `cbor:"2,keyasint"`
	Card    []byte `cbor:"3,keyasint,omitempty"` // JSON, signed as any card
	Variant string `cbor:"4,keyasint,omitempty"`
}

// NewCardRequest makes a request and the id it goes under.
func NewCardRequest() (id string, r CardRequest) {
	return "card_" + hex.EncodeToString(random16()), CardRequest{Nonce: random16()}
}
