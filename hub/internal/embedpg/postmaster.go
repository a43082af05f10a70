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

const socketPort = "5432" // only names the socket's file

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
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return postmaster{}, err
	}
	lines := append(strings.Split(string(text), "\n"), make([]string, 8)...)
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return postmaster{}, fs.ErrNotExist
	}
	return postmaster{
		dir: dir, pid: pid, port: strings.TrimSpace(lines[3]),
		socketDir: lines[4], status: strings.TrimSpace(lines[7]),
	}, nil
}

// alive reports whether that process is there and is this server: after a
// reboot the number may belong to anybody.
func (p postmaster) alive() bool {
	err := syscall.Kill(p.pid, 0)
	return (err == nil || errors.Is(err, syscall.EPERM)) && !p.foreign()
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
// with, since this cluster has no other use.
func (p postmaster) url() string {
	q := url.Values{"host": {p.socketDir}, "port": {p.port}, "sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", User: url.User(roleName), Path: "/postgres", RawQuery: q.Encode()}
	return u.String()
}
