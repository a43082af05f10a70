package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// lateRenewal is when any certificate should have been renewed.
const lateRenewal = 21 * 24 * time.Hour

// quick is how long anything but a body and a poll may take.
const quick = 10 * time.Second

// local reports whether the hub is asked on its own machine, past all that
// stands before it for others.
func (x *exam) local() bool {
	for _, a := range x.addresses {
		if !a.IsLoopback() {
			return false
		}
	}
	return true
}

func (x *exam) secure() bool { return x.URL.Scheme == "https" }

func (x *exam) port() string {
	switch {
	case x.URL.Port() != "":
		return x.URL.Port()
	case x.secure():
		return "443"
	}
	return "80"
}

func (x *exam) lookUp(ctx context.Context) {
	const check = "dns"
	host := x.URL.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		x.addresses = []netip.Addr{addr.Unmap()}
		x.skip(check, "%s is an address, no name", host)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, quick)
	defer cancel()
	found, err := x.Resolve(ctx, "ip", host)
	if err != nil {
		x.found(check, fmt.Sprintf("%s does not resolve: %v", host, err), "nobody finds the hub", "give the name an A or AAAA record with this machine's address")
		return
	}
	for _, a := range found {
		x.addresses = append(x.addresses, a.Unmap())
	}
	switch {
	case host == "localhost":
		x.skip(check, "localhost is this machine alone")
	case x.local():
		x.found(check, fmt.Sprintf("on this machine %s is %s", host, list(x.addresses)), "what stands before the hub is not seen from here, and another machine may see something else",
			"take the name out of /etc/hosts, or ask from another machine")
	case x.private():
		x.found(check, fmt.Sprintf("%s has private addresses only: %s", host, list(x.addresses)), "nobody outside this network reaches the hub", "give the name a public address, unless the hub is for this network alone")
	default:
		x.fine(check, "%s is %s", host, list(x.addresses))
	}
}

func (x *exam) private() bool {
	for _, a := range x.addresses {
		if !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() {
			return false
		}
	}
	return true
}

func list(addresses []netip.Addr) string {
	var words []string
	for _, a := range addresses {
		words = append(words, a.String())
	}
	return strings.Join(words, ", ")
}

// connect tries every address: a client picks one, and an AAAA record that leads
// nowhere is a hub that is there for half of the world.
func (x *exam) connect(ctx context.Context) {
	const check = "connection"
	if len(x.addresses) == 0 {
		x.skip(check, "there is no address to connect to")
		return
	}
	for _, a := range x.addresses {
		to := net.JoinHostPort(a.String(), x.port())
		conn, err := x.Dial(ctx, "tcp", to)
		if err != nil {
			x.found(check, fmt.Sprintf("%s does not answer: %v", to, err), "clients that pick this address do not reach the hub",
				"start the hub or its proxy, let the port through the firewall, or take the address out of the DNS; some routers hide an own public address from inside: then ask from another machine")
			continue
		}
		conn.Close()
		x.answers = true
		x.fine(check, "%s answers", to)
	}
}

// certificate judges the chain by itself, and lets the other checks go on over
// one that is bad: they send nothing that is a secret.
func (x *exam) certificate(ctx context.Context) {
	const check = "certificate"
	x.client = x.newClient()
	switch {
	case !x.secure() && x.local():
		x.skip(check, "plain HTTP on this machine")
		return
	case !x.secure():
		x.found(check, "the address is plain HTTP", "who is on the way reads who asks for whom, and nodes refuse to join", "ask for https://, and serve it with --domain or through a proxy")
		return
	case !x.answers:
		x.skip(check, "nobody answers")
		return
	}
	chain, err := x.shake(ctx)
	if err != nil {
		x.found(check, fmt.Sprintf("no TLS is spoken there: %v", err), "nobody reaches the hub", "see the hub's log for \"no certificate was obtained\", or the proxy's")
		return
	}
	x.judge(chain)
}

func (x *exam) newClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: x.Dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: quick,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		},
	}
}

func (x *exam) shake(ctx context.Context) ([]*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, quick)
	defer cancel()
	raw, err := x.Dial(ctx, "tcp", net.JoinHostPort(x.URL.Hostname(), x.port()))
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	conn := tls.Client(raw, &tls.Config{ServerName: x.URL.Hostname(), InsecureSkipVerify: true})
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return conn.ConnectionState().PeerCertificates, nil
}

func (x *exam) judge(chain []*x509.Certificate) {
	const check = "certificate"
	leaf, others := chain[0], x509.NewCertPool()
	for _, c := range chain[1:] {
		others.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: x.URL.Hostname(), Roots: x.Roots, Intermediates: others, CurrentTime: x.Now()})
	left := leaf.NotAfter.Sub(x.Now())
	var name x509.HostnameError
	var stranger x509.UnknownAuthorityError
	const unreached = "nodes and browsers refuse to speak to the hub"
	switch {
	case errors.As(err, &name):
		x.found(check, "the certificate is for another name: "+strings.Join(leaf.DNSNames, ", "), unreached, "obtain one for "+x.URL.Hostname()+", and let the server that has this name use it")
	case left <= 0:
		x.found(check, "the certificate ended on "+leaf.NotAfter.Format(time.DateOnly), unreached, "renew it; the hub's log tells why its own is not renewed")
	case errors.As(err, &stranger):
		x.found(check, "nobody whom this machine trusts vouches for the certificate", unreached, "serve the whole chain (fullchain.pem), or a certificate of a public authority; for one of your own give its root in --ca-file")
	case err != nil:
		x.found(check, "the certificate does not hold: "+err.Error(), unreached, "obtain another one")
	case left < min(leaf.NotAfter.Sub(leaf.NotBefore)/4, lateRenewal):
		x.found(check, fmt.Sprintf("the certificate ends in %d days and is not renewed", days(left)), "from then on "+unreached, "see the log of what renews it; the hub says \"a certificate is not renewed\", and why")
	default:
		x.fine(check, "good for %s, for another %d days, from %s", x.URL.Hostname(), days(left), leaf.Issuer)
	}
}

func days(d time.Duration) int { return int(d / (24 * time.Hour)) }

// redirect asks without TLS, as people type.
func (x *exam) redirect(ctx context.Context) {
	const check = "redirect"
	if !x.secure() || x.port() != "443" || !x.answers {
		x.skip(check, "only what serves HTTPS at its usual port has one")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, quick)
	defer cancel()
	resp, err := x.get(ctx, "http://"+x.URL.Hostname()+"/healthz")
	if err != nil {
		x.found(check, fmt.Sprintf("port 80 does not answer: %v", err), "who types the name without https:// gets nowhere, and certificates may not be renewed", "let port 80 through; the hub serves it beside --domain, a proxy has to be told to")
		return
	}
	resp.Body.Close()
	to := resp.Header.Get("Location")
	switch {
	case resp.StatusCode/100 == 3 && strings.HasPrefix(to, "https://"+x.URL.Hostname()):
		x.fine(check, "port 80 leads to %s", to)
	case resp.StatusCode == http.StatusOK:
		x.found(check, "port 80 serves without TLS", "who is on the way reads and changes what passes", "let port 80 answer 301 to https:// and nothing else")
	default:
		x.found(check, fmt.Sprintf("port 80 answers %s %s", resp.Status, to), "who types the name without https:// gets nowhere", "let port 80 answer 301 to https://"+x.URL.Hostname())
	}
}

func (x *exam) get(ctx context.Context, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return x.client.Do(r)
}
