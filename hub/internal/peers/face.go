package peers

import "time"

// Face is what everyone may know of a peer: who it is, and what goes between it
// and this hub. How it answers, and what it refuses, is its operator's and ours.
type Face struct {
	Name, AID, Endpoint string
	Delivery            bool
	Discovery           bool
	Since               time.Time
	Agents              int64 // known from it
}

// face shows a peer that has proven itself: an entry alone would let a hub say
// that it goes together with any other.
func (t *Table) face(r Report) (f Face, shown bool) {
	return Face{
		Name: r.Name, AID: r.AID, Endpoint: r.Endpoint, Since: r.AddedAt, Agents: r.Agents,
		Delivery: t.DeliveryOn() && r.Delivers(), Discovery: t.DiscoveryOn() && r.Discovers(),
	}, r.Proven() && !r.AddedAt.IsZero()
}
