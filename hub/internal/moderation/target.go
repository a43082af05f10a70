// Package moderation holds what an operator may decide about others: who is
// refused, and who is in no list.
//
// The one rule its users must know: a block is looked for in the transaction of
// what it refuses. There is no copy of the blocks in a process that could be
// behind.
package moderation

import (
	"encoding/base32"
	"net/netip"
	"strings"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Target is what a block is against: one AID, or the addresses of a range.
type Target struct {
	AID  string       // empty for a range
	Host netip.Prefix // zero for an AID
}

// Kinds of targets.
const (
	KindAID  = "aid"
	KindHost = "host"
)

// Kind tells the two apart.
func (t Target) Kind() string {
	if t.AID != "" {
		return KindAID
	}
	return KindHost
}

// String is the target in its one spelling.
func (t Target) String() string {
	if t.AID != "" {
		return t.AID
	}
	return t.Host.String()
}

// ParseTarget reads a target in any spelling and gives the one that requests are
// compared with.
func ParseTarget(kind, text string) (Target, error) {
	switch kind {
	case KindAID:
		aid, err := ParseAID(text)
		return Target{AID: aid}, err
	case KindHost:
		host, err := parseHost(text)
		return Target{Host: host}, err
	}
	return Target{}, errs.New(errs.Invalid, "kind_unknown", "a block is against an aid or a host, not %.40q", kind).In("kind")
}

var aidText = base32.StdEncoding.WithPadding(base32.NoPadding)

// ParseAID reads an AID whatever its case, with padding or without, and with any
// bits behind the last byte: other programs write them so. This hub takes only
// one spelling from agents, and that is what it gives.
func ParseAID(text string) (string, error) {
	s := strings.TrimRight(strings.ToUpper(strings.TrimSpace(text)), "=")
	raw, err := aidText.DecodeString(strings.TrimPrefix(s, "B"))
	aid := "b" + strings.ToLower(aidText.EncodeToString(raw))
	if err != nil || !strings.HasPrefix(s, "B") || !identity.ValidAID(aid) {
		return "", errs.New(errs.Invalid, "aid_malformed", "this is no agent id").In("aid")
	}
	return aid, nil
}

// oneIPv6 is what one client has of IPv6 addresses. A block of less would be no
// block.
const oneIPv6 = 64

// parseHost reads an address or a range. IPv4 within IPv6 is IPv4, which is what
// such a client is counted as.
func parseHost(text string) (netip.Prefix, error) {
	bad := errs.New(errs.Invalid, "host_malformed",
		"a host is an address such as 203.0.113.7 or 2001:db8::1, or a range such as 203.0.113.0/24").In("host")
	text = strings.TrimSpace(text)
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
		if err != nil {
			return p, bad
		}
		addr = addr.WithZone("")
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return p, bad
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p.Bits() == 0 {
		return p, errs.New(errs.Invalid, "host_everybody", "this range holds every address").In("host")
	}
	if p.Addr().Is6() {
		p = netip.PrefixFrom(p.Addr(), min(p.Bits(), oneIPv6))
	}
	return p.Masked(), nil
}
