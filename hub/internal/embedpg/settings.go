package embedpg

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// defaults go into the new cluster's postgresql.conf, where the operator may
// change them. The log keeps one file a weekday, so it cannot fill the disk.
const defaults = `
# A private server of anet-hub. What stands here may be changed; the sockets
# and the addresses are set on the server's command line and may not.
max_connections = 200
shared_buffers = %dMB
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
logging_collector = on
log_directory = 'log'
log_filename = 'postgresql-%%a.log'
log_rotation_age = 1d
log_rotation_size = 0
log_truncate_on_rotation = on
log_checkpoints = off
`

// arguments are the server's command line. No address is listened on, and the
// socket can be used by the server's own user and root only, so local
// connections need no password.
func arguments(dir, socketDir string, settings map[string]string) []string {
	args := []string{
		"-D", dir,
		"-c", "listen_addresses=",
		"-c", `unix_socket_directories="` + strings.ReplaceAll(socketDir, `"`, `""`) + `"`,
		"-c", "unix_socket_permissions=0700",
		"-c", "port=" + socketPort,
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// environment is all that the server's programs see of ours: the hub's own may
// hold secrets, and PG* variables would change what they do.
func environment() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	if libs := os.Getenv("LD_LIBRARY_PATH"); libs != "" {
		env = append(env, "LD_LIBRARY_PATH="+libs)
	}
	return env
}

// socketDir is the cluster's folder, which nobody else can enter, or a private
// folder with a short name where that path is too long for a socket.
func (c cluster) socketDir() (string, error) {
	if socketFits(c.dir) {
		return c.dir, nil
	}
	dir := c.shortFolder()
	return dir, c.account.privateFolder(dir)
}

func (c cluster) shortFolder() string {
	base := os.Getenv("XDG_RUNTIME_DIR")
	if os.Geteuid() == 0 {
		base = "/run"
	}
	dir := filepath.Join(base, "anet-hub-"+c.id())
	if info, err := os.Stat(base); base == "" || err != nil || !info.IsDir() || !socketFits(dir) {
		dir = filepath.Join("/tmp", "anet-hub-"+c.id())
	}
	return dir
}

func (c cluster) removeSocketFolder() {
	if !socketFits(c.dir) {
		_ = os.Remove(c.shortFolder())
	}
}

// socketFits reports whether a socket in dir can be bound and named in a
// connection URL, where a comma would separate two hosts.
func socketFits(dir string) bool {
	const longest = len(syscall.RawSockaddrUnix{}.Path) - 1
	return len(filepath.Join(dir, socketFile)) <= longest && !strings.Contains(dir, ",")
}
