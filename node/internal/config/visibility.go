package config

import "slices"

// Visibility is who beyond the hub may learn of the node (wire 2, I.2).
type Visibility string

// The visibilities. Hubs treat the last two alike: what tells them apart is for
// those who publish lists of their own.
const (
	HubLocal  Visibility = "hub-local" // nobody
	Federated Visibility = "federated" // the hubs that the hub federates with
	Public    Visibility = "public"    // everybody
)

// Visibilities are all of them, from the narrowest on.
func Visibilities() []Visibility { return []Visibility{HubLocal, Federated, Public} }

// Known reports whether it is one of them.
func (v Visibility) Known() bool { return slices.Contains(Visibilities(), v) }

// Widens reports whether more may learn of the node than with the old one.
func (v Visibility) Widens(old Visibility) bool {
	return slices.Index(Visibilities(), v) > slices.Index(Visibilities(), old)
}
