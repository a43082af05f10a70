package web

import (
	"time"

	"github.com/dustin/go-humanize"
)

// Peer is another hub as everyone may know it: who it is and what goes between
// it and this one. How it answers is between its operator and ours.
type Peer struct {
	Name, AID, Endpoint string
	Delivery            bool // messages go both ways
	Discovery           bool // this hub lists its agents
	Since               time.Time
	Agents              int64 // known from it
}

// Neighbour is a peer as it stands on a page.
type Neighbour struct {
	Peer
	Home   *Home
	Since  Moment
	Agents string
}

// Peers are the hubs that this one federates with.
type Peers struct {
	Site
	Peers []Neighbour
}

// NewPeers shows them.
func NewPeers(s Site, list []Peer, now time.Time) Peers {
	page := Peers{Site: s, Peers: make([]Neighbour, 0, len(list))}
	for _, p := range list {
		page.Peers = append(page.Peers, Neighbour{
			Peer: p, Home: homeOf(p.Endpoint), Since: momentOf(p.Since, now), Agents: humanize.Comma(p.Agents),
		})
	}
	return page
}

// Here is the entry of the hub, of which this is a part.
func (Peers) Here() string { return "/hub" }

var peersPage = page("peers.html")

// HTML implements Page.
func (p Peers) HTML() ([]byte, error) { return render(peersPage, p) }
