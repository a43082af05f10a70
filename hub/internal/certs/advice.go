package certs

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// advices say what an operator can do about a complaint.
var advices = map[string]string{
	"connection": "the authority cannot connect to %s: let its ports 80 and 443 through from outside to this hub, and let every address in its DNS (A and AAAA) be this machine's",
	"dns":        "%s does not resolve for the authority: give it an A or AAAA record, and wait until it has spread",
	"unauthorized": "something else answers for %s: its DNS names another machine, or another program or a proxy has its port 80 or 443; " +
		"behind a proxy let that do TLS, and leave --domain out",
	"tls":                     "something else answers on port 443 of %s: another program has it, or a proxy stands before this hub",
	"rateLimited":             "the authority takes no more requests for %s for now: wait as it says; while you try things out, use its staging directory (--acme-directory)",
	"caa":                     "the CAA record of %s names other authorities: add this one, or choose one of them with --acme-directory",
	"rejectedIdentifier":      "the authority gives no certificates for names such as %s: choose another --domain or --acme-directory",
	"invalidContact":          "the authority does not take the address for %s: change --acme-email",
	"unsupportedContact":      "the authority does not take the address for %s: change --acme-email",
	"externalAccountRequired": "the authority gives certificates such as for %s to its customers only: choose another --acme-directory",
	"directoryUntrusted":      "the authority's own certificate is of nobody this machine trusts, so nothing was asked for %s: give its root in --acme-ca-file",
	"directory":               "the authority was not reached for %s: check --acme-directory, and that this machine may connect to it",
}

// advice is the next step.
func (c complaint) advice(name string) string {
	if text, ok := advices[c.kind]; ok {
		return fmt.Sprintf(text, name)
	}
	return fmt.Sprintf("see what the authority says; \"anet-hub doctor --domain %s\" looks from outside", name)
}

// Name is a domain as certificates and clients write it, or says why there can
// be no certificate for it.
func Name(s string) (string, error) {
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return "", errors.New("it is an address: certificates are for names")
	}
	if strings.ContainsAny(s, ":/ ") {
		return "", errors.New("it is a bare name, such as hub.example.org, without scheme or port")
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(s, "."))
	switch {
	case strings.Contains(s, "*"):
		return "", errors.New("one with * needs a challenge over DNS, which the hub does not do: name each domain")
	case err != nil, slices.Contains(strings.Split(name, "."), ""), len(name) > 253:
		return "", errors.New("it is no name of the DNS")
	case !strings.Contains(name, "."):
		return "", errors.New("it has no dot: nobody certifies the names of a local network")
	}
	return name, nil
}
