package directory

import "github.com/anet-hub/anet/shared/errs"

// Visibility says who beyond this hub may learn of an agent. Local lists show
// it whatever it is.
type Visibility string

// The visibilities of wire 2, I.2. Peers treat the last two alike.
const (
	HubLocal  Visibility = "hub-local"
	Federated Visibility = "federated"
	Public    Visibility = "public"
)

// ToPeers reports whether hubs that are peers of this one may learn of the agent.
func (v Visibility) ToPeers() bool { return v == Federated || v == Public }

// ParseVisibility reads the value of a request.
func ParseVisibility(s string) (Visibility, error) {
	switch v := Visibility(s); v {
	case HubLocal, Federated, Public:
		return v, nil
	}
	return "", errs.New(errs.Invalid, "visibility_unknown",
		"visibility must be hub-local, federated or public").In("visibility")
}
