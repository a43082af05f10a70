package doctor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/shared/checkup"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a healthy node's, its hub included.
func folder(t *testing.T) datadir.Dir {
	t.Helper()
	dir, err := datadir.Open(filepath.Join(t.TempDir(), "n"))
	must(t, err)
	_, err = keyring.Init(dir, time.Now())
	must(t, err)
	h := newHub(t)
	must(t, hubclient.Pin{URL: h.URL, AID: h.key.AID(), KEL: h.key.KEL()}.Store(dir))
	return dir
}

type hub struct {
	*httptest.Server
	key *identity.Controller
}

type fixed byte

func (f fixed) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(f)
	}
	return len(b), nil
}

func newHub(t *testing.T) hub {
	t.Helper()
	key, err := identity.NewController(fixed(7), time.Now())
	must(t, err)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.HeaderVersion, "2")
		io.WriteString(w, `{"aid":"`+key.AID()+`","kel":"`+codec.EncodeB64(key.KEL())+`"}`)
	}))
	t.Cleanup(srv.Close)
	return hub{srv, key}
}

func TestAHealthyNode(t *testing.T) {
	got := Examine(t.Context(), folder(t).String(), time.Now)
	if got.Findings() > 0 || len(got) < 9 {
		t.Errorf("found %+v", got)
	}
}

func TestFindings(t *testing.T) {
	write := func(name, content string) func(*testing.T, datadir.Dir) {
		return func(t *testing.T, dir datadir.Dir) { must(t, dir.Write(name, []byte(content))) }
	}
	tests := []struct {
		name  string
		spoil func(*testing.T, datadir.Dir)
		check string
		says  string
	}{
		{"a misspelt key", write("config.json", "{\n  \"inbuond\": {}\n}"), "config", "config.json:2:3: "},
		{"public and not served", write("config.json", `{"inbound":{"public_capabilities":[{"id":"text.digest"}]}}`), "services", "nothing serves it"},
		{"a program that does not run", write("config.json", `{"modules":{"service":{"capabilities":[{"id":"a","url":"unix:///nowhere/a.sock"}]}}}`), "services", "/nowhere/a.sock"},
		{"a price", write("config.json", `{"inbound":{"public_capabilities":[{"id":"a"}]},"modules":{"service":{"capabilities":[{"id":"a","url":"unix:///nowhere/a.sock","price":3}]}}}`), "payments", "keeps no ledger"},
		{"a list with a name in it", write("peers.deny", "mallory\n"), "peers", "peers.deny, line 1"},
		{"another hub in the config", write("config.json", `{"hub_url":"https://other.example.org"}`), "hub", "other.example.org"},
		{"a file others may change", func(t *testing.T, dir datadir.Dir) {
			write("config.json", "{}")(t, dir)
			must(t, os.Chmod(dir.Path("config.json"), 0o666))
		}, "files", "config.json may be changed"},
		{"keys others may read", func(t *testing.T, dir datadir.Dir) { must(t, os.Chmod(dir.Path("identity.key"), 0o644)) }, "keys", "chmod 600"},
		{"no hub", func(t *testing.T, dir datadir.Dir) { must(t, hubclient.Forget(dir)) }, "hub", "joined no hub"},
		{"a hub that is down", func(t *testing.T, dir datadir.Dir) { repin(t, dir, "http://127.0.0.1:1") }, "hub", "cannot be reached"},
		{"another hub at the URL", func(t *testing.T, dir datadir.Dir) {
			other, err := identity.NewController(fixed(9), time.Now())
			must(t, err)
			pin, _, err := hubclient.LoadPin(dir)
			must(t, err)
			pin.AID, pin.KEL = other.AID(), other.KEL()
			must(t, pin.Store(dir))
		}, "hub", "another hub answers"},
	}
	for _, tt := range tests {
		dir := folder(t)
		tt.spoil(t, dir)
		got := Examine(t.Context(), dir.String(), time.Now)
		if !has(got, tt.check, tt.says) || got.Findings() == 0 {
			t.Errorf("%s: want %s: %q, found %+v", tt.name, tt.check, tt.says, got)
		}
	}
}

func has(all checkup.Results, check, says string) bool {
	for _, r := range all {
		if r.Check == check && r.Status == checkup.Finding && strings.Contains(r.Message, says) {
			return true
		}
	}
	return false
}

func repin(t *testing.T, dir datadir.Dir, url string) {
	t.Helper()
	pin, _, err := hubclient.LoadPin(dir)
	must(t, err)
	pin.URL = url
	must(t, pin.Store(dir))
}

func TestAWrongClock(t *testing.T) {
	for offset, wrong := range map[time.Duration]bool{0: false, 30 * time.Second: false, 10 * time.Minute: true, -10 * time.Minute: true} {
		now := func() time.Time { return time.Now().Add(offset) }
		if got := Examine(t.Context(), folder(t).String(), now); has(got, "clock", "off the hub's") != wrong {
			t.Errorf("off by %v: %+v", offset, got)
		}
	}
}

func TestKeysLeftTooLong(t *testing.T) {
	later := func() time.Time { return time.Now().Add(20 * 24 * time.Hour) }
	if got := Examine(t.Context(), folder(t).String(), later); !has(got, "keys", "were to be renewed") {
		t.Errorf("found %+v", got)
	}
}

func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if got := Examine(t.Context(), path, time.Now); !has(got, "folder", "anet init") || len(got) != 1 {
		t.Errorf("found %+v", got)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking made a folder")
	}
}
