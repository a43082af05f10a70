package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/testkit/authority"
	"github.com/anet-hub/anet/shared/wire"
)

// certified is a hub process that does its own TLS, with who finds it there.
type certified struct {
	*stage.HubProcess
	ca     *authority.Authority
	client *http.Client
}

func startCertified(t *testing.T, args ...string) *certified {
	t.Helper()
	port, plain := stage.FreePort(t), stage.FreePort(t)
	ca := authority.Start(t, authority.Options{TLSPort: port, HTTPPort: plain})
	hub := stage.LaunchHub(t, stage.HubConfig{Port: port,
		Args: append(args, "--acme-email", "operator@anet.test"),
		Env: []string{
			"ANET_HUB_DOMAIN=hub.anet.test", fmt.Sprintf("ANET_HUB_LISTEN_HTTP=127.0.0.1:%d", plain),
			"ANET_HUB_ACME_DIRECTORY=" + ca.Directory, "ANET_HUB_ACME_CA_FILE=" + ca.CAFile,
		}})
	c := &certified{HubProcess: hub, ca: ca}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", c.address())
		}}
	t.Cleanup(tr.CloseIdleConnections)
	c.client = &http.Client{Timeout: 90 * time.Second, Transport: tr}
	c.Hub.URL = "https://hub.anet.test"
	c.await(t)
	var id wire.Identity
	c.get(t, "/hub/identity").Ask(t, &id)
	if c.AID = id.AID; id.PublicURL != c.Hub.URL {
		t.Errorf("it calls itself %s, want %s", id.PublicURL, c.Hub.URL)
	}
	return c
}

func (c *certified) address() string { return "127.0.0.1:" + strconv.Itoa(c.Config.Port) }

func (c *certified) await(t *testing.T) {
	t.Helper()
	stage.Until(t, 2*stage.Patience, "it serves with a certificate", func() bool {
		resp, err := c.client.Get(c.Hub.URL + "/readyz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
}

func (c *certified) get(t *testing.T, path string) stage.Answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, c.Hub.URL+path, nil)
	stage.Must(t, err)
	answer, err := stage.Send(c.client, r)
	stage.Must(t, err)
	return answer
}

func (c *certified) agent(t *testing.T) *stage.Agent {
	t.Helper()
	a := stage.NewAgent(t, c.Hub)
	a.HTTP = c.client
	a.Register()
	return a
}

// A hub that does TLS keeps every promise of one behind a proxy, over HTTP/2,
// and after a kill serves on with the certificate it had.
func TestAHubWithTLSOfItsOwn(t *testing.T) {
	t.Parallel()
	hub := startCertified(t, "--relay-max-envelope", "4MiB")
	t.Run("polls", func(t *testing.T) {
		t.Parallel()
		bob := hub.agent(t)
		brought := bringsAfter(t, 30*time.Second, bob) // past every limit on headers and bodies
		brought(func() int64 { return bob.Mail(bob.AID(), 1000) })
	})
	t.Run("bodies", func(t *testing.T) {
		t.Parallel()
		alice := hub.agent(t)
		for size, want := range map[int]string{envelopeCap: "200", envelopeCap + 1: "413 envelope_too_large", 10 * envelopeCap: "413 body_too_large"} {
			if got := alice.Do(wire.ActionSend, "/relay/send", mailOf(alice, size)).Code(); got != want {
				t.Errorf("%d bytes: %s, want %s", size, got, want)
			}
		}
	})
	t.Run("slow bodies", func(t *testing.T) {
		t.Parallel()
		body, drip := io.Pipe()
		go func() {
			for range 120 {
				if _, err := drip.Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
			drip.Close()
		}()
		start := time.Now()
		r, err := http.NewRequest(http.MethodPost, hub.URL+"/agents/keys:lookup", body)
		stage.Must(t, err)
		answer, err := stage.Send(hub.client, r)
		if took := time.Since(start); err == nil && answer.Code() != "400 body_incomplete" || took > bodyLimit+stage.Stall {
			t.Errorf("a body that drips was ended after %s: %s, %v", took, answer, err)
		}
		drip.Close()
	})
	t.Run("connections without a word", func(t *testing.T) {
		t.Parallel()
		before := openFiles(t, hub.PID())
		for range 300 {
			conn, err := net.Dial("tcp", hub.address())
			stage.Must(t, err)
			defer conn.Close()
		}
		stage.Until(t, stage.Patience, "they have arrived", func() bool { return openFiles(t, hub.PID()) >= before+250 })
		stage.Until(t, headerLimit+stage.Stall, "they were closed", func() bool { return openFiles(t, hub.PID()) <= before+50 })
	})
	t.Cleanup(func() {
		hub.Kill()
		hub.Relaunch(t)
		hub.await(t)
		if got := hub.ca.Issued(); got != 1 {
			t.Errorf("%d certificates were issued, want 1", got)
		}
		for _, word := range []string{"PRIVATE KEY", "operator@anet.test"} {
			if strings.Contains(hub.Log(), word) {
				t.Errorf("the log holds %q", word)
			}
		}
	})
}
