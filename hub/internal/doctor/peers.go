package doctor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/checkup"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// Net calls peers the way the hub does: guarded, and bounded.
type Net interface {
	Identity(ctx context.Context, endpoint string) (wire.Identity, error)
	Do(ctx context.Context, r *http.Request, maxAnswer int64) (status int, h http.Header, body []byte, err error)
}

const (
	peersAtOnce = 4
	maxPeerPage = 1 << 20
	lately      = 15 * time.Minute
)

// peers looks at each peer in the way that this hub comes to it.
func (x *exam) peers(ctx context.Context) {
	const check = "peers"
	switch {
	case x.Inside.Facts == nil:
		x.skip(check, "which there are stands in the hub's database")
		return
	case len(x.Inside.Peers) == 0:
		x.skip(check, "this hub has none")
		return
	}
	found := make([]checkup.Results, len(x.Inside.Peers))
	free := make(chan struct{}, peersAtOnce)
	var busy sync.WaitGroup
	for i, p := range x.Inside.Peers {
		free <- struct{}{}
		busy.Go(func() {
			defer func() { <-free }()
			one := &visit{exam: &exam{Case: x.Case, calls: x.calls}, peer: p}
			one.look(ctx)
			found[i] = one.results
		})
	}
	busy.Wait()
	for _, r := range found {
		x.results = append(x.results, r...)
	}
	x.ownAddress(ctx)
}

// ownAddress comes to this hub in the way that a peer does, as far as that can be
// seen from here: guarded, to where the hub says that others reach it.
func (x *exam) ownAddress(ctx context.Context) {
	const check, why = "peers", "peers enter a hub by that address, and name it as the home of its agents"
	switch {
	case !x.answers || x.Inside.Key == nil:
		return
	case x.calls == "":
		x.found(check, "this hub has no public URL", why+"; agents have no card without one", "start it with --public-url https://… (or --domain)")
		return
	case card.CheckHub(x.calls) != nil:
		x.found(check, "this hub's public URL "+x.calls+" is one of this machine only", "no card may show such an address: agents have no card, and peers hear of cards alone",
			"start it with a --public-url that others can use: a name, or an address of the network; between hubs on one machine a name from /etc/hosts")
		return
	}
	says, err := x.Net.Identity(ctx, strings.TrimSuffix(x.calls, "/"))
	switch {
	case errs.Is(err, "address_refused"):
		x.found(check, "this hub's public URL "+x.calls+" is called by no peer: "+err.Error(), why,
			"give it a public address and TLS; or have each peer's operator allow its range, and this command, too, with --peer-allow-range")
	case err != nil:
		x.found(check, "this hub's public URL "+x.calls+" leads nowhere from here: "+err.Error(), why,
			"see what is found of name and connection; a router may hide it from inside: then ask from another machine, curl "+x.calls+"/hub/identity")
	case says.AID != x.Inside.Key.AID():
		x.found(check, "at this hub's public URL "+x.calls+" another hub answers: "+says.AID, why, "name this hub's own address with --public-url")
	default:
		x.fine(check, "this hub's public URL leads to it")
	}
}

// visit is the look at one peer.
type visit struct {
	*exam
	peer peers.Standing
	good []string
}

func (v *visit) look(ctx context.Context) {
	if v.peer.Paused {
		v.skip("peers", "%s is paused: nothing goes to or from it", v.peer.Name)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 4*quick)
	defer cancel()
	if !v.proves(ctx) {
		return
	}
	v.tells(ctx)
	if v.peer.Delivery {
		v.delivers(ctx)
	}
	if v.peer.Discovery {
		v.publishes(ctx)
	}
	if len(v.good) > 0 {
		v.fine("peers", "%s %s", v.peer.Name, strings.Join(v.good, ", "))
	}
}

func (v *visit) wrong(what, why, next string) {
	v.found("peers", v.peer.Name+" "+what, why, next)
}

// failures are what stands in the way to a peer, by the code, and what to do.
var failures = map[string]string{
	"address_refused":      "if it is meant to be there, let the hub and this command through with --peer-allow-range; else ask the peer's operator for its public address",
	"redirect_refused":     "enter the address that it redirects to, if that is the peer's: anet-hub peer remove, anet-hub peer add",
	"peer_not_a_hub":       "see that the address is the hub's own, with the path before /hub/identity, and no page of a proxy",
	"peer_aid_differs":     "ask the peer's operator over another way: a hub whose database was lost has another AID, and so has somebody in its place; if it is right: anet-hub peer remove, anet-hub peer add",
	"peer_history_shorter": "ask the peer's operator: it was restored from a backup of before its key was rotated",
	"peer_history_forked":  "ask the peer's operator: two hubs run with its identity, or somebody has its key",
}

// proves has the peer say who it is.
func (v *visit) proves(ctx context.Context) bool {
	says, err := v.Net.Identity(ctx, v.peer.Endpoint)
	if err == nil {
		_, err = peers.Prove(v.peer.Peer, says)
	}
	if err == nil {
		v.good = append(v.good, "proves who it is")
		return true
	}
	if errs.Is(err, "address_refused") && v.hubReaches() {
		v.skip("peers", "%s answers the hub, last at %s; this command may not call it there: give it the hub's --peer-allow-range",
			v.peer.Name, v.peer.LastSuccess.UTC().Format(time.DateTime))
		return false
	}
	next := "see that it runs and that this machine reaches it: curl " + v.peer.Endpoint + "/hub/identity"
	if e := errs.As(err); e != nil && failures[e.Reason] != "" {
		next = failures[e.Reason]
	}
	v.wrong("does not prove who it is: "+err.Error(), "mail to and from its agents waits at its senders, and nothing new is learned from it", next)
	return false
}

// hubReaches reports whether the hub that serves has had an answer lately: it asks
// every five minutes.
func (v *visit) hubReaches() bool {
	return !v.peer.Failing() && v.Now().Sub(v.peer.LastSuccess) < lately
}

// get asks the peer something, signed where there is an action.
func (v *visit) get(ctx context.Context, target, action string) (status int, h http.Header, err error) {
	r, err := http.NewRequest(http.MethodGet, v.peer.Endpoint+target, nil)
	if err != nil {
		return 0, nil, err
	}
	if action != "" {
		relayauth.Sign(v.Inside.Key, action, v.peer.AID, r, nil, uint64(v.Now().UnixMilli()))
	}
	status, h, _, err = v.Net.Do(ctx, r, maxPeerPage)
	return status, h, err
}

// tells compares clocks.
func (v *visit) tells(ctx context.Context) {
	before := v.Now()
	_, h, err := v.get(ctx, "/healthz", "")
	if err != nil {
		return // what comes next says so
	}
	theirs, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	off := theirs.Sub(before.Add(v.Now().Sub(before) / 2)).Round(time.Second)
	if off.Abs() > offTooFar {
		v.wrong(fmt.Sprintf("has a clock that is %s off from this machine's", off.Abs()), "hubs refuse each other's questions for keys when clocks differ by five minutes",
			"set this machine's clock by NTP (timedatectl set-ntp true); if it is right, tell the peer's operator")
		return
	}
	v.good = append(v.good, "agrees about the time")
}

// delivers asks for the keys of this hub itself, which no hub has: a peer that
// says so has this hub in its table, knows its present key, and takes its mail.
func (v *visit) delivers(ctx context.Context) {
	const lost = "mail to its agents does not leave this hub"
	if v.Inside.Key == nil {
		return
	}
	status, _, err := v.get(ctx, "/fed/v2/keys/"+v.Inside.Key.AID(), wire.ActionFedKeys)
	switch {
	case err != nil:
		v.wrong("was asked for keys and gave no answer: "+err.Error(), lost, "see that it runs, and what its proxy does with /fed/")
	case status == http.StatusNotFound, status == http.StatusOK:
		v.good = append(v.good, "takes mail of this hub")
	case status == http.StatusForbidden:
		v.wrong("takes nothing from this hub (403)", lost,
			"ask its operator to enter this hub: anet-hub peer add "+v.own()+"; or turn it off here: anet-hub peer set "+v.peer.Name+" --delivery off")
	case status == http.StatusUnauthorized:
		v.wrong("refuses this hub's signature (401)", lost,
			"set the clocks; after this hub's key was rotated the peer has to fetch the longer history at "+v.own()+"/hub/identity, which takes it five minutes")
	case status == http.StatusBadGateway:
		v.wrong("cannot make sure who this hub is (502)", lost,
			"see that the address under which it entered this hub can be reached from there: curl "+v.own()+"/hub/identity")
	default:
		v.wrong(fmt.Sprintf("was asked for keys and answered with status %d", status), lost, "ask its operator, or wait if it is 503")
	}
}

// own is this hub's address as a peer would enter it.
func (v *visit) own() string { return strings.TrimSuffix(cmp.Or(v.calls, v.URL.String()), "/") }

// publishes asks for what comes behind the end of the stream.
func (v *visit) publishes(ctx context.Context) {
	const why = "its agents are not found here"
	status, _, err := v.get(ctx, fmt.Sprintf("/fed/v2/cards?cursor=%d", int64(math.MaxInt32)), "")
	if err == nil && status == http.StatusNotFound { // it has the older stream alone
		status, _, err = v.get(ctx, fmt.Sprintf("/fed/v1/cards?cursor=%d", int64(math.MaxInt32)), "")
	}
	switch {
	case err != nil:
		v.wrong("was asked for its agents and gave no answer: "+err.Error(), why, "see that it runs, and what its proxy does with /fed/")
	case status == http.StatusOK:
		v.good = append(v.good, "tells of its agents")
	case status == http.StatusForbidden:
		v.wrong("tells nothing of its agents (403)", why,
			"ask its operator to enter this hub for discovery, or for --federation-discovery on; or turn it off here: anet-hub peer set "+v.peer.Name+" --discovery off")
	default:
		v.wrong(fmt.Sprintf("was asked for its agents and answered with status %d", status), why, "ask its operator, or wait if it is 503")
	}
}
