package service

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/testkit/need"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	must(t, err)
	t.Cleanup(func() { l.Close() })
}

// within opens a socket in a new folder, which others may enter as the mode says.
func within(t *testing.T, folder string, mode fs.FileMode) (path string) {
	t.Helper()
	must(t, os.Mkdir(folder, 0o700))
	open(t, folder+"/s")
	must(t, os.Chmod(folder, mode))
	return folder + "/s"
}

func TestOnlySocketsNobodyElseCanReplace(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string) (socketPath string)
		safe    bool
	}{
		{"a private folder", func(t *testing.T, dir string) string {
			open(t, dir+"/s")
			return dir + "/s"
		}, true},
		{"a folder below", func(t *testing.T, dir string) string {
			return within(t, dir+"/sub", 0o755)
		}, true},
		{"through a link of one's own", func(t *testing.T, dir string) string {
			within(t, dir+"/sub", 0o755)
			must(t, os.Symlink("sub", dir+"/link"))
			return dir + "/link/s"
		}, true},
		{"a folder others write to", func(t *testing.T, dir string) string {
			return within(t, dir+"/sub", 0o777)
		}, false},
		{"a folder a group writes to", func(t *testing.T, dir string) string {
			return within(t, dir+"/sub", 0o775)
		}, false},
		{"a sticky folder", func(t *testing.T, dir string) string {
			return within(t, dir+"/sub", 0o777|fs.ModeSticky)
		}, false},
		{"an open folder above a private one", func(t *testing.T, dir string) string {
			must(t, os.Mkdir(dir+"/sub", 0o700))
			path := within(t, dir+"/sub/private", 0o700)
			must(t, os.Chmod(dir+"/sub", 0o777))
			return path
		}, false},
		{"a link into an open folder", func(t *testing.T, dir string) string {
			within(t, dir+"/open", 0o777)
			must(t, os.Symlink("open", dir+"/link"))
			return dir + "/link/s"
		}, false},
		{"links in a circle", func(t *testing.T, dir string) string {
			must(t, os.Symlink("b", dir+"/a"))
			must(t, os.Symlink("a", dir+"/b"))
			return dir + "/a/s"
		}, false},
		{"a link for a socket", func(t *testing.T, dir string) string {
			open(t, dir+"/real")
			must(t, os.Symlink("real", dir+"/s"))
			return dir + "/s"
		}, false},
		{"a socket everybody writes to", func(t *testing.T, dir string) string {
			open(t, dir+"/s")
			must(t, os.Chmod(dir+"/s", 0o777))
			return dir + "/s"
		}, false},
		{"a file for a socket", func(t *testing.T, dir string) string {
			must(t, os.WriteFile(dir+"/s", nil, 0o600))
			return dir + "/s"
		}, false},
		{"a file for a folder", func(t *testing.T, dir string) string {
			must(t, os.WriteFile(dir+"/f", nil, 0o600))
			return dir + "/f/s"
		}, false},
		{"no socket at all", func(t *testing.T, dir string) string { return dir + "/s" }, false},
		{"a socket nobody listens on", func(t *testing.T, dir string) string {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/s", Net: "unix"})
			must(t, err)
			l.SetUnlinkOnClose(false)
			must(t, l.Close())
			return dir + "/s"
		}, false},
	}
	for _, tt := range tests {
		dir := folder(t)
		s := socket{path: tt.prepare(t, dir), trusted: dir}
		conn, err := s.dial(t.Context())
		if (err == nil) != tt.safe {
			t.Errorf("%s: dial = %v, want safe %v", tt.name, err, tt.safe)
		}
		if err == nil {
			conn.Close()
			continue
		}
		p := servingBelow(t, dir, s.path, nil)
		if o := call(p, `{}`); o.Status != effect.Unavailable || o.Reason != task.Unavailable {
			t.Errorf("%s: the call is %s %s, want UNAVAILABLE", tt.name, o.Status, o.Reason)
		}
	}
}

func TestAnotherUsersSocketIsNotUsed(t *testing.T) {
	need.Root(t)
	const nobody = 65534
	tests := []struct {
		name  string
		chown func(dir string) string
	}{
		{"the socket", func(dir string) string { return dir + "/sub/s" }},
		{"its folder", func(dir string) string { return dir + "/sub" }},
	}
	for _, tt := range tests {
		dir := folder(t)
		path := within(t, dir+"/sub", 0o755)
		must(t, os.Chown(tt.chown(dir), nobody, nobody))
		if o := call(servingBelow(t, dir, path, nil), `{}`); o.Status != effect.Unavailable {
			t.Errorf("%s belongs to another user: the call is %s", tt.name, o.Status)
		}
	}
}

func TestASocketInAClosedFolderIsUsed(t *testing.T) {
	path := need.SocketDir(t) + "/s"
	serveOn(t, path, answering(http.StatusOK, `{}`))
	p := servingBelow(t, "/", path, nil)
	if o := call(p, `{}`); o.Status != effect.OK {
		t.Errorf("%s: %s %s, health %v", path, o.Status, o.Reason, p.Health(t.Context()))
	}
}

// Nothing above a temporary folder is safe: it stands in a sticky one.
func TestTheWholeWayFromTheRootIsChecked(t *testing.T) {
	shared := filepath.Join(folder(t), "shared")
	must(t, os.Mkdir(shared, 0o700))
	must(t, os.Chmod(shared, 0o777))
	must(t, os.Mkdir(shared+"/mine", 0o700))
	open(t, shared+"/mine/s")
	var d *distrust
	if _, err := (socket{path: shared + "/mine/s", trusted: "/"}).dial(t.Context()); !errors.As(err, &d) {
		t.Errorf("dial = %v, want distrust", err)
	}
}

func TestAReplacedSocketIsNotUsed(t *testing.T) {
	path := programAt(t, answering(http.StatusOK, `{}`))
	p := serving(t, path, nil)
	if o := call(p, `{}`); o.Status != effect.OK {
		t.Fatalf("before: %s %s", o.Status, o.Reason)
	}
	must(t, os.Rename(path, path+".old"))
	must(t, os.Symlink(path+".old", path))
	if o := call(p, `{}`); o.Status != effect.Unavailable {
		t.Errorf("after it became a link: %s, want UNAVAILABLE", o.Status)
	}
}

func TestHealthNamesWhatDoesNotAnswer(t *testing.T) {
	path := programAt(t, answering(http.StatusOK, `{}`))
	p := serving(t, path, nil)
	if err := p.Health(t.Context()); err != nil {
		t.Errorf("a running program: %v", err)
	}
	must(t, os.Remove(path))
	if err := p.Health(t.Context()); err == nil {
		t.Error("a missing socket is called healthy")
	}
}
