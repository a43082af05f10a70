package stage

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/testkit/need"
)

// Proxy is a proxy with TLS before a hub, set up as deploy/ shows it.
type Proxy struct {
	*Hub
	*Process
	Roots  *x509.CertPool
	CA     string // file of what it takes to trust it
	Access string // its access log
}

// Client trusts the proxy's certificate. Some proxies treat HTTP/1.1 and HTTP/2
// in different ways.
func (p *Proxy) Client(t testing.TB, http2 bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Roots}, Protocols: protocols, MaxIdleConnsPerHost: 16}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Timeout: 90 * time.Second, Transport: tr}
}

// Through is an agent that reaches its hub through the proxy.
func (p *Proxy) Through(t testing.TB, a *Agent, http2 bool) *Agent {
	other := a.At(p.Hub).In(t)
	other.HTTP = p.Client(t, http2)
	return other
}

// example is one of deploy/ with other words in the place of some. All of them
// have to be there: else the story would be of another file than people copy.
func example(t testing.TB, path string, replace ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Root(), "deploy", path))
	Must(t, err)
	text := string(b)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("deploy/%s does not hold %q", path, replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	return text
}

// Nginx starts one with deploy/nginx/anet-hub.conf, with other words in the
// place of some.
func Nginx(t testing.TB, h *Hub, replace ...string) *Proxy {
	t.Helper()
	program, dir := need.Program(t, "nginx"), Dir(t)
	p := &Proxy{Access: filepath.Join(dir, "access.log")}
	cert, key := p.certify(t, dir)
	port, plain := FreePort(t), FreePort(t)
	p.Hub = &Hub{URL: fmt.Sprintf("https://127.0.0.1:%d", port), AID: h.AID}
	conf := example(t, "nginx/anet-hub.conf", append(replace,
		"127.0.0.1:8088", strings.TrimPrefix(h.URL, "http://"),
		"listen [::]:80;", "", "listen [::]:443 ssl http2;", "",
		"listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", plain),
		"listen 443 ssl http2;", fmt.Sprintf("listen 127.0.0.1:%d ssl http2;", port),
		"/etc/letsencrypt/live/hub.example.org/fullchain.pem", cert,
		"/etc/letsencrypt/live/hub.example.org/privkey.pem", key,
		"/var/log/nginx/anet-hub.log", p.Access)...)
	Write(t, filepath.Join(dir, "anet-hub.conf"), conf)
	main := Write(t, filepath.Join(dir, "nginx.conf"), fmt.Sprintf(`
daemon off; master_process off; user %[2]s; pid %[1]s/pid; error_log stderr;
events { worker_connections 8192; }
http {
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	include %[1]s/anet-hub.conf;
}
`, dir, self()))
	p.Process = Start(t, Command{Name: "nginx", Path: program, Args: []string{"-e", "stderr", "-c", main}})
	p.await(t)
	return p
}

// self is who nginx's workers run as. Only root may choose, and its folder is
// closed to others.
func self() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "nobody" // ignored
}

// Caddy starts one with deploy/caddy/Caddyfile.
func Caddy(t testing.TB, h *Hub, replace ...string) *Proxy {
	t.Helper()
	program, dir := need.Program(t, "caddy"), Dir(t)
	p := &Proxy{Access: filepath.Join(dir, "access.log")}
	cert, key := p.certify(t, dir)
	p.Hub = &Hub{URL: fmt.Sprintf("https://127.0.0.1:%d", FreePort(t)), AID: h.AID}
	conf := Write(t, filepath.Join(dir, "Caddyfile"), example(t, "caddy/Caddyfile", append(replace,
		"127.0.0.1:8088", strings.TrimPrefix(h.URL, "http://"),
		"\n{\n", fmt.Sprintf("\n{\n\tadmin off\n\tauto_https off\n\tstorage file_system %s\n", dir),
		"\nhub.example.org {\n", fmt.Sprintf("\n%s {\n\ttls %s %s\n", p.URL, cert, key),
		"/var/log/caddy/anet-hub.log", p.Access)...))
	p.Process = Start(t, Command{Name: "caddy", Path: program, Env: []string{"HOME=" + dir}, Args: []string{"run", "--adapter", "caddyfile", "--config", conf}})
	p.await(t)
	return p
}

func (p *Proxy) await(t testing.TB) {
	t.Helper()
	c := p.Client(t, false)
	Until(t, Patience, p.Name+" leads to the hub", func() bool {
		resp, err := c.Get(p.URL + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// certify makes a certificate that nobody but the story trusts.
func (p *Proxy) certify(t testing.TB, dir string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
		DNSNames: []string{"hub.example.org"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &secret.PublicKey, secret)
	Must(t, err)
	inside, err := x509.MarshalPKCS8PrivateKey(secret)
	Must(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	p.Roots = x509.NewCertPool()
	p.Roots.AppendCertsFromPEM(text)
	p.CA = Write(t, filepath.Join(dir, "cert.pem"), string(text))
	return p.CA, Write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: inside})))
}
