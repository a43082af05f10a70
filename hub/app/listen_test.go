package app

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/crypto/acme/autocert"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// complete is what the flags of serve come to, without a machine's variables.
func complete(flags ...string) (Config, error) {
	cfg, fs := Defaults(), pflag.NewFlagSet("serve", pflag.ContinueOnError)
	cfg.ServeFlags(fs)
	err := fs.Parse(flags)
	if err == nil {
		err = cfg.Complete(fs, func(string) string { return "" })
	}
	return cfg, err
}

func TestWhatFollowsFromADomain(t *testing.T) {
	type follows struct{ listen, plain, public string }
	for _, tt := range []struct {
		flags string
		want  follows
	}{
		{"", follows{"127.0.0.1:8088", "", ""}},
		{"--domain hub.example.org", follows{":443", ":80", "https://hub.example.org"}},
		{"--domain HUB.example.org. --domain b.example.org", follows{":443", ":80", "https://hub.example.org"}},
		{"--domain hub.example.org,b.example.org --listen-http off", follows{":443", "off", "https://hub.example.org"}},
		{"--domain bücher.example", follows{":443", ":80", "https://xn--bcher-kva.example"}},
		{"--domain hub.example.org --listen [::]:8443 --listen-http :8080 --public-url https://hub.example.org:8443",
			follows{"[::]:8443", ":8080", "https://hub.example.org:8443"}},
	} {
		cfg, err := complete(strings.Fields(tt.flags)...)
		if got := (follows{cfg.Listen, cfg.ListenHTTP, cfg.PublicURL}); got != tt.want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", tt.flags, got, err, tt.want)
		}
		if cfg.ACMEDirectory != autocert.DefaultACMEDirectory {
			t.Errorf("%s asks %s", tt.flags, cfg.ACMEDirectory)
		}
	}
}

func TestDomainsThatCannotBe(t *testing.T) {
	for _, tt := range []struct{ flags, says string }{
		{"--domain 203.0.113.7", "certificates are for names"},
		{"--domain [2001:db8::1]", "certificates are for names"},
		{"--domain hub", "no dot"},
		{"--domain *.example.org", "name each domain"},
		{"--domain https://hub.example.org", "a bare name"},
		{"--domain hub.example.org:443", "a bare name"},
		{"--domain hub..example.org", "no name of the DNS"},
		{"--acme-email a@example.org", "name its --domain"},
		{"--listen-http :80", "name its --domain"},
		{"--domain hub.example.org --acme-email nobody", "--acme-email"},
		{"--domain hub.example.org --acme-directory http://localhost/dir", "--acme-directory"},
		{"--domain hub.example.org --acme-ca-file /nowhere", "/nowhere"},
		{"--domain hub.example.org --acme-ca-file /dev/null", "no certificate"},
		{"--proxy-header X-Client-IP", "X-Forwarded-For"},
		{"--trusted-proxy localhost", "10.0.0.0/8"},
	} {
		if _, err := complete(strings.Fields(tt.flags)...); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.flags, err, tt.says)
		}
	}
}

// A proxy may reach the hub at a socket, in the place of one that is left of a
// hub that was killed.
func TestListenAtASocket(t *testing.T) {
	path := filepath.Join(need.SocketDir(t), "hub.sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	database := pgtest.URL(t)
	a := startWith(t, database, func(c *Config) { c.Listen = "unix:" + path })
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	resp, err := client.Get("http://hub/healthz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v %v at %s", resp, err, a.Addr())
	}
	resp.Body.Close()
	for listen, says := range map[string]string{"unix:" + path: "another process serves", "unix:/nowhere/hub.sock": "its folder has to exist"} {
		cfg := Defaults()
		cfg.Listen, cfg.DatabaseURL = listen, database
		if _, err := New(t.Context(), cfg, quiet, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("--listen %s: %v, want %q", listen, err, says)
		}
	}
}

func TestASocketReplacesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen("--listen", "unix:"+path); err == nil {
		t.Error("it listens in the place of a file")
	}
	if b, err := os.ReadFile(path); err != nil || !slices.Equal(b, []byte("x")) {
		t.Errorf("the file: %q, %v", b, err)
	}
}

// What is left of a hub that was killed lets go of its address in a moment.
func TestAnAddressThatIsLetGoOf(t *testing.T) {
	former, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := former.Addr().String()
	go func() {
		time.Sleep(200 * time.Millisecond)
		former.Close()
	}()
	ln, err := listen("--listen", address)
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
}
