package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// poolerConfig gives few connections to many sessions, so that what a session
// left behind is met by another.
const poolerConfig = `[databases]
%s = host=%s port=%d user=%s%s
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
pool_mode = transaction
default_pool_size = 4
auth_type = %s
`

// Pooler starts PgBouncer in transaction mode before a database and gives the
// URL that leads through it. With a secret it wants that as the password, which
// the private server does not.
func Pooler(t testing.TB, database, secret string) string {
	t.Helper()
	program := need.Program(t, "pgbouncer")
	config, err := pgx.ParseConfig(database)
	must(t, err)
	dir, who := poolerFolder(t)
	auth, login := "any", url.User(config.User)
	if secret != "" {
		users := filepath.Join(dir, "users.txt")
		must(t, os.WriteFile(users, fmt.Appendf(nil, "%q %q\n", config.User, secret), 0o644))
		auth, login = "plain\nauth_file = "+users, url.UserPassword(config.User, secret)
	}
	password := ""
	if config.Password != "" {
		password = " password='" + config.Password + "'"
	}
	ini := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(poolerConfig, config.Database, config.Host, config.Port, config.User, password, dir, auth)
	must(t, os.WriteFile(ini, []byte(text), 0o644))
	startPooler(t, program, ini, who)
	through := fmt.Sprintf("postgres://%s@/%s?host=%s&port=6432", login, config.Database, url.QueryEscape(dir))
	awaitPooler(t, through)
	return through
}

// poolerFolder is short, for the socket in it, and belongs to who may use the
// private server's socket besides root: the pooler, too, does not run as root.
func poolerFolder(t testing.TB) (string, *syscall.Credential) {
	t.Helper()
	dir, err := os.MkdirTemp("", "anet-pooler-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Geteuid() != 0 {
		return dir, nil
	}
	u, err := user.Lookup("postgres")
	must(t, err)
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	must(t, os.Chown(dir, uid, gid))
	return dir, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// startPooler lets the pooler live as long as the test; its words stand in the
// test's output when something failed.
func startPooler(t testing.TB, program, ini string, who *syscall.Credential) {
	t.Helper()
	cmd := exec.Command(program, "-q", ini)
	cmd.Dir, cmd.SysProcAttr = filepath.Dir(ini), &syscall.SysProcAttr{Credential: who}
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

func awaitPooler(t testing.TB, url string) {
	t.Helper()
	testkit.Until(t, "the pooler answers", func() bool {
		conn, err := pgx.Connect(context.Background(), url)
		if err == nil {
			_ = conn.Close(context.Background())
		}
		return err == nil
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}
