package embedpg

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	pidFile    = "postmaster.pid"
	socketPort = "5432" // only names the socket's file
	socketFile = ".s.PGSQL." + socketPort
)

// postmaster is what a running server writes about itself in postmaster.pid.
type postmaster struct {
	dir       string
	pid       int
	port      string
	socketDir string
	status    string
}

// readPostmaster is fs.ErrNotExist when no server runs on the folder and none
// was killed there. A file that is only half written has no status.
func readPostmaster(dir string) (postmaster, error) {
	return readLock(filepath.Join(dir, pidFile), dir)
}

// readLock reads either of the two files by which a server keeps others away:
// from its folder, and from its socket. A negative number is a server that serves
// one person, at a terminal.
func readLock(path, dir string) (postmaster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return postmaster{}, err
	}
	lines := append(strings.Split(string(text), "\n"), make([]string, 8)...)
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return postmaster{}, fs.ErrNotExist
	}
	return postmaster{
		dir: dir, pid: max(pid, -pid), port: strings.TrimSpace(lines[3]),
		socketDir: lines[4], status: strings.TrimSpace(lines[7]),
	}, nil
}

// alive reports whether that process is there and is this server: after a
// reboot the number may belong to anybody.
func (p postmaster) alive() bool { return p.there() && !p.foreign() }

// there reports that the number belongs to a process, be it one that has died
// and whose parent has not asked for it yet.
func (p postmaster) there() bool {
	err := syscall.Kill(p.pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// clearLocks removes the locks of a process that is there and is not the server:
// a stranger, or a server that was killed and that the system's first process is
// slow to bury. A new server would take the number for itself or for another of
// its kind and refuse to start, for seconds or for ever. Whether something still
// uses the cluster's memory it finds out in another way.
func clearLocks(dir, socketDir string) {
	for _, path := range []string{filepath.Join(dir, pidFile), filepath.Join(socketDir, socketFile+".lock")} {
		if p, err := readLock(path, dir); err == nil && p.there() && p.foreign() {
			_ = os.Remove(path)
		}
	}
}

// foreign reports that the process works in another folder than the server
// would, where the system tells.
func (p postmaster) foreign() bool {
	cwd, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", p.pid))
	if err != nil {
		_, noProc := os.Stat("/proc/self/cwd")
		return noProc == nil && errors.Is(err, fs.ErrNotExist)
	}
	own, err := os.Stat(p.dir)
	return err == nil && !os.SameFile(cwd, own)
}

func (p postmaster) ready() bool { return p.status == "ready" && p.alive() }

// url is how to reach the hub's database: the one that every cluster is made
// with, since this cluster has no other use. A server that was killed can leave a
// socket on which nobody answers, so connecting has its time.
func (p postmaster) url() string {
	q := url.Values{"host": {p.socketDir}, "port": {p.port}, "sslmode": {"disable"}, "connect_timeout": {"5"}}
	u := url.URL{Scheme: "postgres", User: url.User(roleName), Path: "/postgres", RawQuery: q.Encode()}
	return u.String()
}
