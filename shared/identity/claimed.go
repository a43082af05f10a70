package identity

import "github.com/anet-hub/anet/shared/codec"

// Claimed is the AID that a history's first event makes, as one hash tells it:
// no signature is checked. It finds out cheaply that a history is none, or is
// another agent's, before Replay is worth its price.
func Claimed(kel []byte) (aid string, err error) {
	events, err := split(kel)
	if err != nil {
		return "", err
	}
	first, _, err := parseEvent(events[0])
	if err != nil {
		return "", err
	}
	return first.Event.makes()
}

// makes is the AID of an inception: the content id of the event without one.
func (e *event) makes() (string, error) {
	nameless := *e
	nameless.AID = ""
	preimage, err := nameless.preimage()
	return codec.CID(preimage), err
}
