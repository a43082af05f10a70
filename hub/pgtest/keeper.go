package pgtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/shared/errs"
)

// Every package's tests are a process of their own, and none of them knows
// which is the last. So the private server belongs to one more process, the
// keeper: a test binary that is started again under keeperFolder, finds out in
// init that it is no test, owns the server, and stops it when nobody has held
// the users' lock for a while. Tests hold that lock, shared, as long as they
// live; the kernel gives it back for those that were killed.
const (
	keeperFolder = "ANET_PGTEST_KEEPER"
	idleLimit    = 30 * time.Second
	startLimit   = 5 * time.Minute
)

// held are the locks of this process, kept here so that the collector does not
// close their files and give the locks back.
var held []*flock.Flock

func init() {
	dir := os.Getenv(keeperFolder)
	if dir == "" {
		return
	}
	if err := keep(folder(dir), idleLimit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// folder is where the private server of one user's tests lives.
type folder string

func (f folder) dataDir() string      { return filepath.Join(string(f), "data") }
func (f folder) usersLock() string    { return filepath.Join(string(f), "users.lock") }
func (f folder) keeperLog() string    { return filepath.Join(string(f), "keeper.log") }
func (f folder) url() (string, error) { return embedpg.Attach(f.dataDir()) }

// openFolder makes the folder, and accepts one that is there only if it is
// ours: everybody may write where it lies.
func openFolder() (folder, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("anet-pgtest-%d", os.Geteuid()))
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) { // a keeper took it away in between
		return openFolder()
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is not a folder of ours: remove it", dir)
	}
	return folder(dir), nil
}

// join makes this process a user of the private server until the lock is let
// go. A keeper may remove the folder at any moment before the lock is there:
// then it lies on a file that is gone, and the next try makes a new folder.
func join() (folder, *flock.Flock, error) {
	for {
		f, err := openFolder()
		if err != nil {
			return "", nil, err
		}
		lock := flock.New(f.usersLock())
		switch err := lock.RLock(); {
		case err == nil && f.holds(lock):
			return f, lock, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return "", nil, fmt.Errorf("join the users of the private server: %w", err)
		}
		_ = lock.Close()
	}
}

// holds tells whether the lock is on the file that others find here.
func (f folder) holds(lock *flock.Flock) bool {
	held, err := lock.Stat()
	found, gone := os.Stat(f.usersLock())
	return err == nil && gone == nil && os.SameFile(held, found)
}

// remove takes the folder away in one step, so that nobody joins half of it.
func (f folder) remove() error {
	gone := fmt.Sprintf("%s.gone-%d", f, os.Getpid())
	if err := os.Rename(string(f), gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// privateServer joins the users of the private server and waits until it is
// there. Whether it has a keeper is not asked: one too many finds the data
// folder taken and goes.
func privateServer() (string, error) {
	f, lock, err := join()
	if err != nil {
		return "", err
	}
	held = append(held, lock)
	failed, err := f.startKeeper()
	if err != nil {
		return "", err
	}
	deadline := time.After(startLimit)
	for {
		if url, err := f.url(); err == nil {
			return url, nil
		}
		select {
		case err := <-failed:
			return "", err
		case <-deadline:
			return "", fmt.Errorf("the private server did not start within %s: see %s", startLimit, f.keeperLog())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// startKeeper starts this program again as the keeper, in a session of its own
// so that the end of the test run does not take it along. The channel tells of
// a keeper that could not do its work.
func (f folder) startKeeper() (<-chan error, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	words, err := os.OpenFile(f.keeperLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer words.Close()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), keeperFolder+"="+string(f))
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", words, words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	failed := make(chan error, 1)
	go func() {
		if err := cmd.Wait(); err != nil {
			failed <- fmt.Errorf("the private server did not start: %w: see %s", err, f.keeperLog())
		}
	}()
	return failed, nil
}

// keep owns the server until it has been idle for so long, and leaves nothing
// behind. Nothing here must be durable.
func keep(f folder, idle time.Duration) error {
	ctx := context.Background()
	s, err := embedpg.Start(ctx, embedpg.Options{
		DataDir: f.dataDir(),
		Log:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Settings: map[string]string{
			"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
			"max_connections": "500", "max_wal_size": "4GB", "autovacuum_naptime": "10min",
		},
	})
	if errs.Is(err, "data_dir_in_use") {
		return nil
	}
	if err != nil {
		return err
	}
	alone := f.waitIdle(idle)
	defer alone.Close() // not before the folder is gone: the next user makes a new one
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return f.remove()
}

// waitIdle returns with the users' lock in exclusive hands.
func (f folder) waitIdle(limit time.Duration) *flock.Flock {
	lock := flock.New(f.usersLock())
	for since := time.Now(); ; time.Sleep(time.Second) {
		alone, _ := lock.TryLock()
		switch {
		case !alone:
			since = time.Now()
		case time.Since(since) > limit:
			return lock
		default:
			_ = lock.Unlock()
		}
	}
}
