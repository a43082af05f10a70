package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/wire"
)

// Limits of the hub on what a node says of itself.
const (
	MaxName    = 128
	MaxSummary = 512
	MaxPricing = 1 << 10
	MaxReadme  = 16 << 10
)

// report notes a fault with the value at a pointer.
type report func(p jsontext.Pointer, format string, args ...any)

// in moves a report into a member.
func (r report) in(prefix string) report {
	return func(p jsontext.Pointer, format string, args ...any) {
		r(jsontext.Pointer(prefix)+p, format, args...)
	}
}

// check holds the rules about values; the rules about keys are in survey.
func (c *Config) check(r report) {
	if c.HubURL != "" {
		checkHubURL(c.HubURL, r)
	}
	text(r, "/name", c.Name, MaxName)
	text(r, "/profile/summary", c.Profile.Summary, MaxSummary)
	text(r, "/profile/pricing", c.Profile.Pricing, MaxPricing)
	text(r, "/profile/readme", c.Profile.Readme, MaxReadme)
	c.checkTags(r)
	if !c.Visibility.Known() {
		r("/visibility", `visibility must be "hub-local", "federated" or "public"`)
	}
	c.Inbound.check(r.in("/inbound"))
	c.Payments.check(r.in("/payments"))
	if c.Modules.Service != nil {
		c.Modules.Service.check(r.in("/modules/service"))
	}
	if c.Modules.X402 != nil {
		c.Modules.X402.check(r.in("/modules/x402"))
	}
	c.checkGateway(r)
}

// checkGateway holds what is sold through the gateway to being sellable there: for
// a price, to everybody, with a place to take the vouchers. What the card of prices
// cannot say would keep the node from being registered at all.
func (c *Config) checkGateway(r report) {
	sold := 0
	for i, s := range c.services() {
		if !s.Gateway {
			continue
		}
		sold++
		p := at("/modules/service/capabilities", i, "gateway")
		_, public := c.Public(s.ID)
		switch {
		case s.Price == 0:
			r(p, "capability %q has no price to be sold for", s.ID)
		case s.Price > adp.MaxPrice:
			r(p, "nothing is sold through the gateway for more than %d credits", uint64(adp.MaxPrice))
		case !public:
			r(p, "the gateway sells to everybody: put %q into inbound.public_capabilities", s.ID)
		case c.Modules.X402 == nil:
			r(p, "what the gateway sells is redeemed at this node: say where, in modules.x402")
		case sold == adp.MaxSkills+1:
			r(p, "the gateway sells at most %d capabilities of one node", adp.MaxSkills)
		}
	}
}

func (x *X402) check(r report) {
	if _, port, err := net.SplitHostPort(x.Listen); err != nil || port == "" {
		r("/listen", "listen must be an address such as 127.0.0.1:8402")
	}
	u, err := url.Parse(x.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		r("/url", "url must be where others reach it, such as https://node.example.org/redeem")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		r("/url", "url must have no user, query or fragment")
	}
}

func checkHubURL(raw string, r report) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		r("/hub_url", "hub_url must be a URL such as https://hub.example.org")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		r("/hub_url", "hub_url must have no user, query or fragment")
	}
}

// text bounds a text and keeps control characters out; line breaks are for the
// readme and the pricing.
func text(r report, p jsontext.Pointer, s string, most int) {
	lines := most > MaxSummary
	bad := func(c rune) bool { return unicode.IsControl(c) && !(lines && (c == '\n' || c == '\t' || c == '\r')) }
	switch {
	case len(s) > most:
		r(p, "%s has %d bytes, more than %d", p.LastToken(), len(s), most)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, bad):
		r(p, "%s holds a control character", p.LastToken())
	}
}

func (c *Config) checkTags(r report) {
	seen := map[string]bool{}
	for i, tag := range c.Tags {
		at := at("/tags", i, "")
		switch {
		case !capability.Keepable(tag):
			r(at, "tag %q cannot be looked up: 1 to %d bytes, no ',' or '*', no blank at the ends", tag, capability.MaxLen)
		case seen[tag]:
			r(at, "tag %q stands twice", tag)
		}
		seen[tag] = true
	}
	// One place is kept for the chat that an open node offers.
	if n, most := len(c.Tags)+len(c.Inbound.PublicCapabilities), wire.MaxCaps-1; n > most {
		r("/tags", "%d tags and public capabilities are more than the %d a registration may carry", n, most)
	}
}

// at is the pointer to a member of a list's element.
func at(list string, i int, member string) jsontext.Pointer {
	p := fmt.Sprintf("%s/%d", list, i)
	if member != "" {
		p += "/" + member
	}
	return jsontext.Pointer(p)
}

func (in Inbound) check(r report) {
	switch in.Policy {
	case Closed, Open:
	case "approve":
		r("/policy", `policy "approve" is not built yet: there is no approval queue in this build; use "closed" or "open"`)
	default:
		r("/policy", `policy must be "closed" or "open"`)
	}
	in.Strangers.check(r.in("/strangers"))
	seen := map[string]bool{}
	for i, p := range in.PublicCapabilities {
		checkID(r, at("/public_capabilities", i, "id"), p.ID, seen)
		p.check(r.in(string(at("/public_capabilities", i, ""))))
	}
}

func checkID(r report, p jsontext.Pointer, id string, seen map[string]bool) {
	if err := capability.CheckID(id); err != nil {
		r(p, "%v", err)
	} else if seen[id] {
		r(p, "capability %q stands twice in this list", id)
	}
	seen[id] = true
}

// maxLimit keeps every limit inside an int of any machine.
const maxLimit = 1 << 30

func (p PublicCapability) check(r report) {
	limits := []struct {
		name        string
		value, most int
	}{
		{"per_caller_per_min", p.PerCallerPerMin, maxLimit}, {"per_caller_per_day", p.PerCallerPerDay, maxLimit},
		{"global_per_min", p.GlobalPerMin, maxLimit}, {"max_inflight", p.MaxInflight, maxLimit},
		{"per_caller_inflight", p.PerCallerInflight, maxLimit},
		{"max_args_bytes", p.MaxArgsBytes, task.MaxArgs}, // what is larger is not read as a call
	}
	for _, l := range limits {
		if l.value < 1 || l.value > l.most {
			r(jsontext.Pointer("/"+l.name), "%s must be from 1 to %d; to close a capability take its entry out", l.name, l.most)
		}
	}
	if p.PerCallerInflight > p.MaxInflight {
		r("/per_caller_inflight", "per_caller_inflight (%d) is more than max_inflight (%d)", p.PerCallerInflight, p.MaxInflight)
	}
}

// maxKept is the most bytes that may be kept of strangers: a terabyte.
const maxKept = 1 << 40

func (s Strangers) check(r report) {
	limits := []struct {
		name        string
		value, most int64
	}{
		{"max_tasks", s.MaxTasks, maxLimit}, {"max_bytes", s.MaxBytes, maxKept},
		{"per_caller_tasks", s.PerCallerTasks, maxLimit}, {"per_caller_bytes", s.PerCallerBytes, maxKept},
	}
	for _, l := range limits {
		if l.value < 1 || l.value > l.most {
			r(jsontext.Pointer("/"+l.name), `%s must be from 1 to %d; to take nothing from strangers say "policy": "closed"`, l.name, l.most)
		}
	}
}

// maxCredits is the most credits anything can hold.
const maxCredits = 1<<63 - 1

func (l Limits) check(r report) {
	for _, most := range []struct {
		name  string
		value uint64
	}{
		{"auto_max", l.AutoMax}, {"agent_max", l.AgentMax}, {"agent_daily_max", l.AgentDailyMax},
		{"explicit_max", l.ExplicitMax}, {"daily_max", l.DailyMax},
	} {
		if most.value > maxCredits {
			r(jsontext.Pointer("/"+most.name), "%s must be below 2^63", most.name)
		}
	}
	seen := map[string]bool{}
	for i, aid := range l.Payees {
		switch {
		case !identity.ValidAID(aid):
			r(at("/payees", i, ""), "%.80q is no full AID", aid)
		case seen[aid]:
			r(at("/payees", i, ""), "payee %s stands twice", aid)
		}
		seen[aid] = true
	}
}

func (s *Service) check(r report) {
	checkTimeout(r, s.TimeoutMS)
	checkFile(r, s.TokenFile)
	if len(s.Capabilities) == 0 {
		r("", "the service module names no capability")
	}
	seen := map[string]bool{}
	for i, c := range s.Capabilities {
		checkID(r, at("/capabilities", i, "id"), c.ID, seen)
		c.check(r.in(string(at("/capabilities", i, ""))), s.AllowTCP)
	}
}

// MaxTimeoutMS is the longest time one call may be given: a day.
const MaxTimeoutMS = 24 * 60 * 60 * 1000

func checkTimeout(r report, ms int64) {
	if ms < 0 || ms > MaxTimeoutMS {
		r("/timeout_ms", "timeout_ms must be from 1 to %d", MaxTimeoutMS)
	}
}

func checkFile(r report, path string) {
	if path != "" && !filepath.IsAbs(path) {
		r("/token_file", "token_file must be an absolute path")
	}
}

func (c ServiceCapability) check(r report, allowTCP bool) {
	checkTimeout(r, c.TimeoutMS)
	checkFile(r, c.TokenFile)
	c.checkURL(r, allowTCP)
	if c.Price > maxCredits {
		r("/price", "price must be below 2^63")
	}
	text(r, "/name", c.Name, MaxName)
	text(r, "/description", c.Description, MaxReadme)
}

func (c ServiceCapability) checkURL(r report, allowTCP bool) {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		r("/url", "url is missing: where the program listens, such as unix:///run/user/1000/text.sock")
	case err == nil && u.User != nil: // not repeated: it holds a secret
		r("/url", "url must have no user or password; use token_file")
	case err != nil || u.Fragment != "":
		r("/url", "url %q cannot be read; write unix:///path/to/socket", c.URL)
	case u.Scheme == "unix":
		c.checkSocket(r, u)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r("/url", "url %q must begin with unix:/// (or http://, https:// where the module sets allow_tcp)", c.URL)
	case !allowTCP:
		r("/url", "url %q is not a Unix socket; any user of this machine could answer there. Set allow_tcp in the service module to permit it", c.URL)
	}
}

// maxSocketPath is the longest path a Unix socket can have on Linux.
const maxSocketPath = 107

func (c ServiceCapability) checkSocket(r report, u *url.URL) {
	switch {
	case u.Host != "" || u.RawQuery != "" || !filepath.IsAbs(u.Path):
		r("/url", "url %q must be unix:// and an absolute path, three slashes in all", c.URL)
	case strings.ContainsRune(u.Path, 0) || strings.HasPrefix(u.Path, "/@"):
		r("/url", "url %q names an abstract socket, which has no owner to check", c.URL)
	case len(u.Path) > maxSocketPath:
		r("/url", "the socket's path has %d bytes, the system allows %d", len(u.Path), maxSocketPath)
	}
}
