package cli

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

func (p *person) pin() hubclient.Pin {
	p.t.Helper()
	dir, err := datadir.At(p.dir)
	must(p.t, err)
	pin, _, err := hubclient.LoadPin(dir)
	must(p.t, err)
	return pin
}

func TestJoinRemembersTheHub(t *testing.T) {
	p, h := newPerson(t), newHub(t, 1)
	file := filepath.Join(t.TempDir(), "invite")
	must(t, os.WriteFile(file, []byte("word-of-invitation\n"), 0o600))
	p.wants(exitDone, "join", h.URL+"/", "--name", "n", "--token-file", file)
	if pin := p.pin(); pin.URL != h.URL || pin.AID != h.key.AID() {
		t.Errorf("pin %+v", pin)
	}
	if got := p.node.Invites; len(got) != 1 || got[0] != "word-of-invitation" {
		t.Errorf("invites %q", got)
	}
	config, err := os.ReadFile(filepath.Join(p.dir, "config.json"))
	must(t, err)
	if !strings.Contains(string(config), h.URL) || !strings.Contains(string(config), `"n"`) {
		t.Errorf("config.json: %s", config)
	}
	if strings.Contains(string(config), "invitation") {
		t.Errorf("the invite is in config.json: %s", config)
	}
}

func TestARefusedNodeStaysWhereItWas(t *testing.T) {
	p, h := newPerson(t), newHub(t, 1)
	p.node.RefuseHub = errs.New(errs.Forbidden, "invite_required", "this hub asks for an invite")
	_, says := p.wants(exitRefused, "join", h.URL)
	if !strings.Contains(says, "asks for an invite") {
		t.Errorf("it says %s", says)
	}
	if pin := p.pin(); pin.URL != "" {
		t.Errorf("pin %+v after a refusal", pin)
	}
	p.node.RefuseHub = nil
	p.wants(exitDone, "join", h.URL)

	other := newHub(t, 2)
	p.node.RefuseHub = errs.New(errs.Forbidden, "invite_required", "this hub asks for an invite")
	p.wants(exitRefused, "join", other.URL, "--move")
	if pin := p.pin(); pin.AID != h.key.AID() {
		t.Errorf("a refused move changed the hub to %+v", pin)
	}
}

// Each refusal of an invite says what to type next.
func TestRefusedInvitesNameTheNextStep(t *testing.T) {
	for _, reason := range []string{wire.InviteRequired, wire.InviteUnknown, wire.InviteRevoked, wire.InviteExpired, wire.InviteUsedUp} {
		p, h := newPerson(t), newHub(t, 1)
		p.node.RefuseHub = errs.New(errs.Forbidden, reason, "no")
		out, says := p.wants(exitRefused, "join", h.URL, "--json")
		if !strings.Contains(says, "next: ") || !strings.Contains(says, "--token-file FILE") {
			t.Errorf("%s: it says %s", reason, says)
		}
		if got := decoded[cmdline.Problem](t, out); got.Code != reason {
			t.Errorf("%s: as JSON %+v", reason, got)
		}
	}
}

// A certificate that is refused says whose turn it is.
func TestAnUntrustedHubNamesTheNextStep(t *testing.T) {
	hub := httptest.NewUnstartedServer(http.NotFoundHandler())
	hub.Config.ErrorLog = log.New(io.Discard, "", 0)
	hub.StartTLS()
	t.Cleanup(hub.Close)
	p := newPerson(t)
	out, says := p.wants(exitRefused, "join", hub.URL, "--json")
	if !strings.Contains(says, "next: ") || !strings.Contains(says, "SSL_CERT_FILE") {
		t.Errorf("it says %s", says)
	}
	if got := decoded[cmdline.Problem](t, out); got.Code != hubclient.Untrusted {
		t.Errorf("as JSON %+v", got)
	}
}

func TestJoinNamesTheNextStepWhileThereIsOne(t *testing.T) {
	p, h := newPerson(t), newHub(t, 1)
	if out, _ := p.wants(exitDone, "join", h.URL); !strings.Contains(out, "anet up") {
		t.Errorf("a node that does not run: %s", out)
	}
	p.up()
	if out, _ := p.wants(exitDone, "join", h.URL); strings.Contains(out, "anet up") {
		t.Errorf("a node that runs: %s", out)
	}
}

func TestAnotherHubNeedsTheWord(t *testing.T) {
	p, h, other := newPerson(t), newHub(t, 1), newHub(t, 2)
	p.wants(exitDone, "join", h.URL)
	p.wants(exitDone, "join", h.URL) // again is nothing new
	if _, says := p.wants(exitError, "join", other.URL); !strings.Contains(says, "--move") {
		t.Errorf("it says %s", says)
	}
	h.key = newHub(t, 3).key
	if _, says := p.wants(exitRefused, "join", h.URL); !strings.Contains(says, "another hub answers") {
		t.Errorf("a hub with a new key: %s", says)
	}
	// This one knows no such requests: its mail cannot be fetched.
	if _, says := p.wants(exitRefused, "join", other.URL, "--move"); !strings.Contains(says, "--leave-mail") {
		t.Errorf("of the mail at the old hub it says %q", says)
	}
	if pin := p.pin(); pin.URL != h.URL {
		t.Errorf("a move without its mail: %+v", pin)
	}
	_, says := p.wants(exitDone, "join", other.URL, "--move", "--leave-mail")
	if pin := p.pin(); pin.AID != other.key.AID() || pin.URL != other.URL {
		t.Errorf("after the move: %+v", pin)
	}
	if !strings.Contains(says, "could not be told") {
		t.Errorf("of the old hub it says %q", says)
	}
}

func TestPlainHTTPIsForThisMachine(t *testing.T) {
	p := newPerson(t)
	if _, says := p.wants(exitUse, "join", "http://hub.example.org"); !strings.Contains(says, "--allow-http") {
		t.Errorf("it says %s", says)
	}
}

func TestJoiningWhileItRuns(t *testing.T) {
	p, h, other := newPerson(t), newHub(t, 1), newHub(t, 2)
	p.wants(exitDone, "join", h.URL)
	p.up()
	p.wants(exitDone, "join", h.URL, "--name", "new")
	for _, url := range []string{other.URL, h.URL} { // at the old address, too, another hub may answer
		if _, says := p.wants(exitError, "join", url, "--move"); !strings.Contains(says, "anet down") {
			t.Errorf("it says %s", says)
		}
	}
}

func TestInviteFilesThatAreNone(t *testing.T) {
	p := newPerson(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"prose": "two words", "large": strings.Repeat("x", maxInvite+1)} {
		file := filepath.Join(dir, name)
		must(t, os.WriteFile(file, []byte(content), 0o600))
		code, _, says := p.typed("join", "http://127.0.0.1:1", "--token-file", file)
		if code == exitDone || strings.Contains(says, content) {
			t.Errorf("%s: ended with %d: %s", name, code, says)
		}
	}
	if _, err := os.Stat(p.dir); err == nil {
		t.Error("a folder was made although nothing could come of it")
	}
}
