package peers

import (
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Prove judges what answered at a peer's endpoint (wire 2, J.1), and gives the
// history to pin: the AID is the configured one and the history replays to it. A
// history that is pinned is extended or stays. What is no longer than it proves
// nothing new, and a shorter one is refused: it would bring back keys that were
// given up.
func Prove(p Peer, says wire.Identity) ([]byte, error) {
	if says.AID != p.AID {
		return nil, errs.New(errs.BadGateway, "peer_aid_differs", "another hub answers there: it calls itself %s", aidOf(says))
	}
	h, err := identity.Replay(says.KEL)
	if err != nil {
		return nil, errs.New(errs.BadGateway, "peer_history_invalid", "the peer's key history does not hold").Because(err)
	}
	if h.AID() != p.AID {
		return nil, errs.New(errs.BadGateway, "peer_history_foreign", "the peer's key history is that of another AID")
	}
	if !p.Proven() {
		return says.KEL, nil
	}
	return extended(p.KEL, says.KEL)
}

// astray reports whether a fetch met another hub than the peer. A history that is
// merely shorter is an older one of its own.
func astray(err error) bool {
	switch codeOf(err) {
	case "peer_aid_differs", "peer_history_foreign", "peer_history_invalid", "peer_history_forked":
		return true
	}
	return false
}

// aidOf repeats nothing of an answer that is no AID: an operator who could be made
// to read answers could be made to read those of a neighbour.
func aidOf(says wire.Identity) string {
	if identity.ValidAID(says.AID) {
		return says.AID
	}
	return "something that is no AID"
}

func extended(pinned, says []byte) ([]byte, error) {
	switch how, err := identity.Compare(says, pinned); {
	case err != nil:
		return nil, errs.New(errs.BadGateway, "peer_history_invalid", "the peer's key history does not hold").Because(err)
	case how == identity.Extends:
		return says, nil
	case how == identity.Equal:
		return pinned, nil
	case how == identity.Shorter:
		return nil, errs.New(errs.BadGateway, "peer_history_shorter", "the peer shows a key history shorter than the one on record")
	}
	return nil, errs.New(errs.BadGateway, "peer_history_forked", "the peer shows a key history that contradicts the one on record")
}
