package embedpg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	clusterName = "postgres" // the cluster's folder inside the data folder
	lockName    = clusterName + ".lock"
	halfMade    = "postgres.init-"
	roleName    = "anet"
)

// cluster is the server's folder on disk and the account that owns it.
type cluster struct {
	dataDir string
	dir     string
	account account
}

// openCluster makes the data folder where it is missing and decides who runs
// the server.
func openCluster(dataDir string) (cluster, error) {
	if dataDir == "" {
		return cluster{}, fmt.Errorf("no data folder was named")
	}
	abs, err := filepath.Abs(dataDir)
	if err != nil {
		return cluster{}, fmt.Errorf("data folder: %w", err)
	}
	c := cluster{dataDir: abs, dir: filepath.Join(abs, clusterName)}
	if c.account, err = chooseAccount(c.dir, c.dataDir); err != nil {
		return cluster{}, err
	}
	if err := c.makeDataDir(); err != nil {
		return cluster{}, fmt.Errorf("make the data folder: %w", err)
	}
	return c, c.account.barred(c.dataDir)
}

// makeDataDir leaves others the right to pass through, not to look, when the
// server is one of those others.
func (c cluster) makeDataDir() error {
	mode := os.FileMode(0o700)
	if c.account.switched {
		mode = 0o711
	}
	if err := os.MkdirAll(filepath.Dir(c.dataDir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(c.dataDir, mode); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

// own takes the lock that makes this process the one owner. A lock of the
// kernel's goes with the process, so a kill leaves nothing to clear away.
func (c cluster) own() (*flock.Flock, error) {
	path := filepath.Join(c.dataDir, lockName)
	lock := flock.New(path)
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if !got {
		pid, _ := os.ReadFile(path)
		return nil, errs.New(errs.Conflict, "data_dir_in_use",
			"another anet-hub (process %s) runs on %s: stop it first, or give this one another --data-dir",
			strings.TrimSpace(string(pid)), c.dataDir)
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return nil, err
	}
	return lock, c.account.give(path) // a hub that is not started as root has to open it, too
}

// version is the major version that made the cluster, zero when there is none.
func (c cluster) version() int {
	text, _ := os.ReadFile(filepath.Join(c.dir, "PG_VERSION"))
	major, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return major
}

// ensure makes the cluster unless it is there. It is made beside its place and
// moved there whole: a kill in the middle leaves a folder to sweep, never half
// a cluster.
func (c cluster) ensure(ctx context.Context, p programs, settings map[string]string, log *slog.Logger) error {
	c.sweep()
	if c.version() != 0 {
		return nil
	}
	if _, err := os.Stat(c.dir); err == nil {
		return fmt.Errorf("%s is there but holds no PostgreSQL cluster: move it away", c.dir)
	}
	log.Info("making the database", "folder", c.dir, "postgres", p.major)
	temp, err := os.MkdirTemp(c.dataDir, halfMade)
	if err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	if err := c.initdb(ctx, p, temp, settings["fsync"] != "off"); err != nil {
		_ = os.RemoveAll(temp)
		return fmt.Errorf("make the database: %w", err)
	}
	return publish(temp, c.dir)
}

// sweep removes what a killed start left. An initdb that outlived its hub may
// still be writing there; what it writes now, the next sweep finds.
func (c cluster) sweep() {
	left, _ := filepath.Glob(filepath.Join(c.dataDir, halfMade+"*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
}

func (c cluster) initdb(ctx context.Context, p programs, dir string, sync bool) error {
	if err := c.account.give(dir); err != nil {
		return err
	}
	args := []string{
		"--pgdata", dir, "--username", roleName, "--locale", "C", "--encoding", "UTF8",
		"--auth-local", "trust", "--auth-host", "reject", "--data-checksums", "--no-instructions",
	}
	if !sync {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, p.path("initdb"), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, environment(), c.account.attr()
	cmd.WaitDelay = time.Second // a server it started may hold its output after it
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLines(out))
	}
	return appendSynced(filepath.Join(dir, "postgresql.conf"), fmt.Sprintf(defaults, sharedBuffers(machineMB())))
}

// publish moves the finished folder to its place and makes the move durable.
func publish(temp, dir string) error {
	if err := os.Rename(temp, dir); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Sync()
}

func appendSynced(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Sync()
}

// id tells folders of different clusters apart in a shared place.
func (c cluster) id() string {
	sum := sha256.Sum256([]byte(c.dir))
	return hex.EncodeToString(sum[:6])
}

// lastLines is the end of a program's output, where it says what was wrong.
func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
