// Package peers is the table of hubs this one federates with (wire 2, J.1): who
// they are, what goes to and from each, and whether they can be reached.
//
// The one rule: nothing a peer signs counts before its AID was proven by its key
// history, and a history that was proven is only ever extended.
package peers

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Peer is another hub, as an operator entered it.
type Peer struct {
	ID        int64  // key of its row, never given out twice
	AID       string // an operator's decision, proven by KEL
	Endpoint  string // base URL without a slash at its end
	Name      string // short and unique: what logs and metrics call it
	Delivery  bool   // forwards go to it and are taken from it
	Discovery bool   // its cards and reviews are pulled
	Paused    bool   // neither, for now; what was learned stays listed
	KEL       []byte // nil until the handshake proved it
	Astray    bool   // another hub answers at Endpoint
	FromFile  bool   // stands in the file of --peers-file, which alone removes it
}

// Proven reports whether the peer has shown that it is who it is said to be.
func (p Peer) Proven() bool { return p.KEL != nil }

// Reached reports whether what is asked at its endpoint is asked of the peer.
func (p Peer) Reached() bool { return p.Proven() && !p.Astray }

// Delivers reports whether mail goes to and from it now.
func (p Peer) Delivers() bool { return p.Delivery && !p.Paused }

// Discovers reports whether it is learned from now.
func (p Peer) Discovers() bool { return p.Discovery && !p.Paused }

// Check holds an entry to what the table may keep.
func (p Peer) Check() error {
	if !identity.ValidAID(p.AID) {
		return errs.New(errs.Invalid, "peer_aid_invalid", "%q is no AID", p.AID).In("aid")
	}
	if err := checkName(p.Name); err != nil {
		return err
	}
	_, err := ParseEndpoint(p.Endpoint)
	return err
}

func checkName(name string) error {
	if !validName.MatchString(name) {
		return errs.New(errs.Invalid, "peer_name_invalid", "a peer's name is 1 to 32 of a-z, 0-9 and -, %.40q is not", name).In("name")
	}
	return nil
}

const maxName = 32

var validName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// NameFor is the name of a peer that was given none: its host.
func NameFor(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	name := strings.Trim(strings.Map(nameRune, strings.ToLower(u.Host)), "-")
	return strings.TrimRight(name[:min(len(name), maxName)], "-")
}

func nameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

const maxEndpoint = 512 // bytes

// ParseEndpoint reads the address of a hub and gives the one way it is written
// here. Whether the address may be called is decided when it is called: a name
// can lead elsewhere by then.
func ParseEndpoint(s string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	switch {
	case err != nil || len(s) > maxEndpoint:
		return "", badEndpoint("it cannot be read as a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", badEndpoint("it begins with https:// (or http:// in a range that is allowed)")
	case u.Hostname() == "" || u.Opaque != "":
		return "", badEndpoint("it names no host")
	case u.User != nil:
		return "", badEndpoint("a name or password has no place in it")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(s, "#"):
		return "", badEndpoint("it ends before any ? or #")
	case strings.ContainsAny(u.Host, "%") || !ascii(u.Host):
		return "", badEndpoint("its host is written in ASCII, without a zone")
	case oddNumber(u.Hostname()):
		return "", badEndpoint("an address is written as 203.0.113.7, or [2001:db8::7]")
	}
	return u.Scheme + "://" + hostOf(u) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

func badEndpoint(why string) error {
	return errs.New(errs.Invalid, "peer_endpoint_invalid", "this is no address of a hub: %s", why).In("endpoint")
}

// oddNumber reports whether a host is an address in a spelling that some resolvers
// read and others take for a name, such as 0x7f.1 or 2130706433.
func oddNumber(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := host[strings.LastIndexByte(strings.TrimSuffix(host, "."), '.')+1:]
	_, err := strconv.ParseUint(strings.TrimSuffix(last, "."), 0, 64)
	return err == nil
}

// hostOf leaves out the port that the scheme means anyway, so that no hub stands
// in the table twice for how it was typed.
func hostOf(u *url.URL) string {
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String()
	}
	if port == "" || port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
