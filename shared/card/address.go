package card

import (
	"net/netip"
	"net/url"
	"strings"
)

// RelayURL is what the relay interface of a card shows for a hub.
func RelayURL(hubURL string) string { return trimBase(hubURL) + "/relay" }

// CheckHub refuses a hub's URL that no public card may show, so that the hub's agents
// have none.
func CheckHub(hubURL string) error { return checkPublic(RelayURL(hubURL)) }

// checkPublic refuses addresses that lead a stranger nowhere, or to a machine of
// his own. A node beside its hub knows it by such an address.
func checkPublic(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "" || u.Hostname() == "":
		return Refuse(NotPublishForm, "%q is no absolute URL with a host", clip(address))
	case u.Scheme == "unix" || isLocal(u.Hostname()):
		return Refuse(NotPublishForm, "%q is an address of this machine only, which a public card may not show", clip(address))
	}
	return nil
}

func isLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	ip = ip.Unmap()
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}
