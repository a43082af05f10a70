package stage

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/shared/testkit/need"
)

const poolerConfig = `[databases]
%s = host=%s port=%d user=%s%s
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
pool_mode = transaction
default_pool_size = 10
auth_type = %s
`

// Pooler starts PgBouncer in transaction mode before a database and gives the
// URL that leads through it. With a secret it wants that as the password, which
// the tests' own server does not.
func Pooler(t testing.TB, database, secret string) string {
	t.Helper()
	program, dir := need.Program(t, "pgbouncer"), Dir(t)
	config, err := pgx.ParseConfig(database)
	Must(t, err)
	auth, login := "any", url.User(config.User)
	if secret != "" {
		users := filepath.Join(dir, "users.txt")
		Must(t, os.WriteFile(users, fmt.Appendf(nil, "%q %q\n", config.User, secret), 0o644))
		auth, login = "plain\nauth_file = "+users, url.UserPassword(config.User, secret)
	}
	password := ""
	if config.Password != "" {
		password = " password='" + config.Password + "'"
	}
	ini := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(poolerConfig, config.Database, config.Host, config.Port, config.User, password, dir, auth)
	Must(t, os.WriteFile(ini, []byte(text), 0o644))
	p := Start(t, Command{Name: "pgbouncer", Path: program, Args: []string{ini}, User: databaseUser(t, dir)})
	through := fmt.Sprintf("postgres://%s@/%s?host=%s&port=6432", login, config.Database, url.QueryEscape(dir))
	Until(t, Patience, "the pooler answers", func() bool {
		if !p.Alive() {
			t.Fatalf("the pooler ended:\n%s", p.Log())
		}
		conn, err := pgx.Connect(context.Background(), through)
		if err == nil {
			conn.Close(context.Background())
		}
		return err == nil
	})
	return through
}

// databaseUser is who may use the private server's socket besides root, and
// owns dir from now on.
func databaseUser(t testing.TB, dir string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	Must(t, err)
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	Must(t, os.Chown(dir, uid, gid))
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
