package app

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit/authority"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// manager listens as a service manager does.
func manager(t *testing.T) (conn *net.UnixConn, socket string) {
	t.Helper()
	socket = filepath.Join(need.SocketDir(t), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, socket
}

// told waits for the next word of the hub.
func (s *secured) told() string {
	s.t.Helper()
	said := make([]byte, 100)
	err := s.manager.SetReadDeadline(time.Now().Add(settling + 2*time.Minute))
	n := 0
	if err == nil {
		n, err = s.manager.Read(said)
	}
	if err != nil {
		s.t.Fatalf("the service manager heard nothing: %v", err)
	}
	return string(said[:n])
}

// Who starts a hub with systemctl and goes on to work with it is not met by a
// handshake that fails for lack of a certificate.
func TestReadyWithItsCertificate(t *testing.T) {
	t.Parallel()
	g := newGates(t)
	ca := authority.Start(t, authority.Options{TLSPort: g.tls.port(), HTTPPort: g.plain.port()})
	s, _ := secure(t, ca, pgtest.URL(t), g, hubName)
	if got := s.told(); got != "READY=1" {
		t.Errorf("it said %q", got)
	}
	if _, err := s.get("https://" + hubName + "/readyz"); err != nil {
		t.Errorf("it said that it is ready: %v", err)
	}
}

// A hub that gets no certificate is there for its operator all the same.
func TestReadyWithoutACertificate(t *testing.T) {
	t.Parallel()
	ca := authority.Start(t, authority.Options{Blocked: "anet.test"})
	s, _ := secure(t, ca, pgtest.URL(t), nil, hubName)
	if got := s.told(); got != "READY=1" {
		t.Errorf("it said %q", got)
	}
	if !strings.Contains(s.words.String(), "no certificate was obtained") {
		t.Error("it was ready before it had tried")
	}
}
