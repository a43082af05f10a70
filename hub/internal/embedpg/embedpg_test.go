package embedpg

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

// ownerFolder makes the test binary an owner that can be killed: a process of
// its own that starts the server on the folder and waits.
const ownerFolder = "EMBEDPG_TEST_OWNER"

// careless makes a server that need not survive a crash of the machine.
var careless = map[string]string{"fsync": "off"}

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerFolder); dir != "" {
		s, err := Start(context.Background(), Options{DataDir: dir, Settings: careless})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.URL())
		select {}
	}
	os.Exit(m.Run())
}

func TestStartMakesAPrivateServer(t *testing.T) {
	t.Parallel()
	s := start(t, dataDir(t))
	for setting, want := range map[string]string{
		"listen_addresses": "", "server_encoding": "UTF8", "lc_collate": "C", "data_checksums": "on",
		"unix_socket_permissions": "0700", "timezone": "UTC",
	} {
		if got := show(t, s, setting); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
}

func TestFolderHasOneOwner(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir)
	_, err := Start(t.Context(), Options{DataDir: dir})
	if !errs.Is(err, "data_dir_in_use") || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("second Start = %v, want data_dir_in_use naming this process", err)
	}
	if url, err := Attach(dir); err != nil || url != s.URL() {
		t.Errorf("Attach = %q, %v, want %q", url, err, s.URL())
	}
	stop(t, s)
	if _, err := Attach(dir); !errs.Is(err, "database_not_running") {
		t.Errorf("Attach after Stop = %v, want database_not_running", err)
	}
}

func TestWhatWasStoredIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir)
	run(t, s, `CREATE TABLE kept AS SELECT 42 AS n`)
	stop(t, s)
	s = start(t, dir)
	run(t, s, `SELECT n FROM kept`)
}

func TestServerIsStartedAgainAfterItWasKilled(t *testing.T) {
	t.Parallel()
	s := start(t, dataDir(t))
	run(t, s, `CREATE TABLE kept AS SELECT 42 AS n`)
	before := pid(t, s)
	must(t, syscall.Kill(before, syscall.SIGKILL))
	testkit.Until(t, "the server is back", func() bool {
		conn, err := pgx.Connect(t.Context(), s.URL())
		if err != nil {
			return false
		}
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), `SELECT n FROM kept`)
		return err == nil && pid(t, s) != before
	})
}

func TestServerOfAKilledOwnerIsAdopted(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	kill, url := owner(t, dir)
	before := postmasterOf(t, dir).pid
	kill()
	s := start(t, dir)
	if s.URL() != url || pid(t, s) != before {
		t.Errorf("after the kill: %s (process %d), want %s (process %d)", s.URL(), pid(t, s), url, before)
	}
	stop(t, s)
	if postmasterOf(t, dir).alive() {
		t.Error("the adopted server outlived Stop")
	}
}

func TestOwnerAndServerKilledTogether(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	kill, _ := owner(t, dir)
	server := postmasterOf(t, dir).pid
	kill()
	must(t, syscall.Kill(server, syscall.SIGKILL))
	start(t, dir)
}

func TestKillWhileTheClusterIsMade(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerFolder+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "initdb is at work", func() bool {
		begun, _ := filepath.Glob(filepath.Join(dir, halfMade+"*", "base"))
		return len(begun) > 0
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	start(t, dir)
}

func TestLongPathGetsAShortSocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dataDir(t), strings.Repeat("long/", 30), "with space, comma")
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	s := start(t, dir)
	folder := show(t, s, "unix_socket_directories")
	stop(t, s)
	if _, err := os.Stat(strings.Trim(folder, `"`)); err == nil {
		t.Errorf("%s is left behind", folder)
	}
}

func TestPidFileOfAnotherProcessIsNoServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	stop(t, start(t, dir))
	stranger := fmt.Sprintf("%d\n%s\n1\n5432\n/tmp\n\n1 1\nready\n", os.Getpid(), dir)
	if err := os.WriteFile(filepath.Join(dir, clusterName, "postmaster.pid"), []byte(stranger), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Attach(dir); !errs.Is(err, "database_not_running") {
		t.Errorf("Attach = %v, want database_not_running", err)
	}
	start(t, dir)
}

// A server that somebody runs by hand, at a terminal, marks its number.
func TestServerAtATerminalIsKnownByItsNumber(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, pidFile), fmt.Appendf(nil, "-%d\n%s\n", os.Getpid(), dir), 0o600))
	if p, err := readPostmaster(dir); err != nil || p.pid != os.Getpid() {
		t.Errorf("process %d, %v, want %d", p.pid, err, os.Getpid())
	}
}

// dataDir is a folder the server's user can reach, which t.TempDir is not when
// the tests run as root.
func dataDir(t *testing.T) string {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "hub")
}

func start(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Options{DataDir: dir, Settings: careless})
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() {
		if s.owner.Locked() {
			stop(t, s)
		}
	})
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

// owner starts another process as the owner of dir and tells how to kill it.
func owner(t *testing.T, dir string) (kill func(), url string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerFolder+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the owner did not start: %v", err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }, strings.TrimSpace(line)
}

func run(t *testing.T, s *Server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func show(t *testing.T, s *Server, setting string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func pid(t *testing.T, s *Server) int { return postmasterOf(t, s.cluster.dataDir).pid }

// postmasterOf is empty, and so not alive, when no server runs.
func postmasterOf(t *testing.T, dataDir string) postmaster {
	t.Helper()
	p, err := readPostmaster(filepath.Join(dataDir, clusterName))
	if err != nil {
		return postmaster{pid: 1 << 30}
	}
	return p
}

// Its processes outlive a killed server, one that is busy for long. Stopped, they
// are as busy as can be.
func TestWhatAKilledServerLeftIsEnded(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	kill, _ := owner(t, dir)
	server := postmasterOf(t, dir)
	left := orphans(server.dir)
	for _, pid := range left {
		if pid != server.pid {
			must(t, syscall.Kill(pid, syscall.SIGSTOP))
		}
	}
	kill()
	must(t, syscall.Kill(server.pid, syscall.SIGKILL))
	start(t, dir)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
