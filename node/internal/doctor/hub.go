package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/home"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/version"
)

// hubPatience bounds the look at the hub.
const hubPatience = 10 * time.Second

func (x *exam) checkHub(ctx context.Context) {
	pin, joined, err := hubclient.LoadPin(x.dir)
	switch {
	case err != nil:
		x.found("hub", err.Error(), "")
		return
	case !joined:
		x.found("hub", "this node has joined no hub", "anet join URL")
		return
	}
	x.checkURL(pin)
	if left, err := home.HasLeft(x.dir); err == nil && left {
		x.found("hub", "this node has left "+pin.URL, "anet hub-register comes back, anet join URL goes elsewhere")
	}
	ctx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	watch := &clockWatch{now: x.now}
	met, err := hubclient.Meet(ctx, hubclient.Options{Hub: pin, Transport: watch})
	if err != nil {
		x.found("hub", err.Error(), hubNext(err))
		x.checkClock(watch)
		return
	}
	x.fine("hub", "%s is %s and speaks our wire", met.URL, met.AID)
	x.checkClock(watch)
	x.checkLedger(ctx, met)
}

// checkLedger looks whether what has a price can be paid.
func (x *exam) checkLedger(ctx context.Context, pin hubclient.Pin) {
	if !x.sells() {
		return
	}
	c, err := hubclient.New(hubclient.Options{Hub: pin})
	if err != nil {
		x.skip("payments", err.Error())
		return
	}
	defer c.Close()
	supported, err := c.Supported(ctx)
	switch {
	case err != nil:
		x.skip("payments", "the hub cannot be asked for its ledger: "+err.Error())
	case len(home.NetworksOf(supported, pin.AID)) == 0:
		x.found("payments", "capabilities have a price, and the hub keeps no ledger: they are not listed, and calls are refused",
			"take the prices out, or join a hub that keeps one")
	default:
		x.fine("payments", "the hub keeps a ledger to be paid on")
	}
}

func (x *exam) sells() bool {
	if x.conf == nil || x.conf.Modules.Service == nil {
		return false
	}
	return slices.ContainsFunc(x.conf.Modules.Service.Capabilities, func(c config.ServiceCapability) bool { return c.Price > 0 })
}

// checkURL finds a hub_url that was edited by hand: it does not move the node.
func (x *exam) checkURL(pin hubclient.Pin) {
	if x.conf == nil || x.conf.HubURL == "" || strings.TrimRight(x.conf.HubURL, "/") == pin.URL {
		return
	}
	x.found("hub", fmt.Sprintf("config.json names the hub %s, and the node has joined %s", x.conf.HubURL, pin.URL),
		"anet join "+x.conf.HubURL+" --move, or put hub_url back")
}

func hubNext(err error) string {
	switch {
	case errs.Is(err, "hub_identity_changed"):
		return "ask the hub's operator; if the hub is a new one: anet join URL --move"
	case errs.Is(err, hubclient.WireTooNew):
		return "install a newer anet"
	case errs.Is(err, hubclient.Untrusted):
		return "add the root of the hub's authority to this machine's, or set SSL_CERT_FILE to the file with it"
	case errs.Is(err, hubclient.OutOfDate):
		return "see that this machine's clock is right; if it is, the hub's operator has to renew the certificate"
	case hubclient.Temporary(err):
		return "check the network and that the hub runs"
	}
	return "ask the hub's operator"
}

// clockWatch notes how far the hub's clock is from ours.
type clockWatch struct {
	now    func() time.Time
	offset time.Duration // theirs less ours
	seen   bool
}

func (c *clockWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := c.now()
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if theirs, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		half := c.now().Sub(sent) / 2
		c.offset, c.seen = theirs.Sub(sent.Add(half)), true
	}
	return resp, nil
}

// maxOffset leaves room before requests are refused for their time.
const maxOffset = time.Minute

func (x *exam) checkClock(c *clockWatch) {
	off := c.offset.Round(time.Second)
	switch {
	case !c.seen:
		x.skip("clock", "the hub did not say its time")
	case off.Abs() > maxOffset:
		x.found("clock", fmt.Sprintf("this clock is %s off the hub's; beyond %s it refuses every request",
			off.Abs(), time.Duration(relayauth.MaxSkew)*time.Millisecond), "set the clock, such as with: timedatectl set-ntp true")
	default:
		x.fine("clock", "within a minute of the hub's")
	}
}

func (x *exam) checkProcess(ctx context.Context) {
	c := control.Dial(x.dir)
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	about, err := c.About(ctx)
	switch {
	case errs.Is(err, control.NotRunning):
		x.fine("process", "the node does not run")
	case err != nil:
		x.found("process", err.Error(), "anet down, then anet up --detach")
	case about.Version != version.String():
		x.found("process", fmt.Sprintf("the running node is version %s, this program %s", about.Version, version.String()),
			"anet down, then anet up --detach")
	default:
		x.fine("process", "the node runs as process %d", about.PID)
		if s, err := c.Status(ctx); err == nil {
			x.checkListing(s)
			x.checkStrangers(s)
		}
	}
}

// checkListing tells what keeps the hub's lists from showing the node, in the
// hub's words.
func (x *exam) checkListing(s node.Status) {
	switch {
	case s.Listed == nil:
		return
	case s.Unlisted != "":
		x.found("listing", "the hub does not list it: "+s.Unlisted, "anet status")
	case s.Differs():
		x.found("listing", "the hub lists something else than is served", "anet status; anet hub-register")
	default:
		x.fine("listing", "the hub lists what is served")
	}
}

// checkStrangers looks whether an open node is about to refuse what it was
// opened for.
func (x *exam) checkStrangers(s node.Status) {
	switch r := s.Strangers; {
	case r == nil:
		return
	case r.Full():
		x.found("strangers", fmt.Sprintf("%d of %d tasks without an end and %s of %s are kept of agents on no list; beyond that they are refused",
			r.Tasks, r.MaxTasks, humanize.IBytes(uint64(r.Bytes)), humanize.IBytes(uint64(r.MaxBytes))),
			"answer them (anet inbox --open, anet end TASK), or raise inbound.strangers in config.json")
	default:
		x.fine("strangers", "there is room for their texts")
	}
}
