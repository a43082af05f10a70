package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/wire"
)

// Limit is something the hub holds a node to, in words.
type Limit struct{ What, Value string }

// limitsOf are those a person may meet; GET /limits has all of them.
func limitsOf(l wire.Limits) []Limit {
	m := l.Mailbox
	out := []Limit{
		{"One message, sealed", size(m.Envelope)},
		{"Waiting for one agent", fmt.Sprintf("%s messages, %s", humanize.Comma(m.Messages), size(m.Bytes))},
		{"A message waits", spanMS(m.LifetimeMS)},
	}
	for _, r := range l.Rates {
		out = append(out, Limit{rateOf(r), fmt.Sprintf("%s at once, as many again in %s", humanize.Comma(int64(r.Quota)), spanMS(r.WindowMS))})
	}
	return append(out,
		Limit{"Capabilities of one agent", fmt.Sprintf("%d, each up to %d bytes", l.Registration.Caps, l.Registration.Cap)},
		Limit{"An agent leaves the lists", "after " + spanMS(l.Times.HiddenMS) + " of silence; a sign of life brings it back"})
}

// rateOf says what a rate counts. One without words here has its name.
func rateOf(r wire.RateLimit) string {
	what, ok := map[string]string{
		"send_rate": "Sending", "register_rate": "New agents", "register_rate_agent": "Registering again",
		"review_rate": "Reviews", "stream_rate": "Pages for other hubs",
		"settle_rate": "Payments", "payment_rate": "Payments that move nothing",
		"settle_abroad_rate": "Payments that peers refuse", "settle_peer_rate": "Payments that peers refuse",
	}[r.Policy]
	if !ok {
		what = r.Policy
	}
	return what + ", of one " + r.Per
}

func size(n int64) string {
	return strings.Replace(humanize.IBytes(uint64(max(0, n))), ".0 ", " ", 1)
}

func spanMS(ms int64) string { return span(time.Duration(ms) * time.Millisecond) }

// span is a time in the largest unit it is a number of.
func span(d time.Duration) string {
	for _, u := range units {
		if d >= u.is && d%u.is == 0 {
			return u.times(d)
		}
	}
	return d.String()
}

// Hub is the hub about itself.
type Hub struct {
	Site
	AID, History string // the content id of its key history
	KeyState     uint64
	Wire         int
	Agents       string
	Peers        string // how many, empty for none
	Limits       []Limit
	Join         []Command
}

// NewHub shows the hub.
func NewHub(s Site, id wire.Identity, keyState uint64, agents int64, peers int, l wire.Limits) Hub {
	return Hub{
		Site: s, AID: id.AID, History: codec.CID(id.KEL), KeyState: keyState, Wire: wire.Version,
		Agents: humanize.Comma(agents), Peers: others(peers), Limits: limitsOf(l),
		Join: []Command{
			{"Make a node and register it", "anet join " + quote(s.URL) + " --name my-node"},
			{"Run it", "anet up --detach"},
			{"See what it serves and what this hub lists", "anet status"},
		},
	}
}

func others(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "one other hub"
	}
	return humanize.Comma(int64(n)) + " other hubs"
}

// Here is the entry of the hub.
func (Hub) Here() string { return "/hub" }

var hubPage = page("hub.html")

// HTML implements Page.
func (h Hub) HTML() ([]byte, error) { return render(hubPage, h) }
