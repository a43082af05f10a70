package pgtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/embedpg"
)

// elsewhere is a folder for temporary files that the server's user can enter.
func elsewhere(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o711))
	must(t, os.Chmod(dir, 0o711))
	t.Setenv("TMPDIR", dir)
}

func TestTheKeeperLeavesNothingBehind(t *testing.T) {
	elsewhere(t)
	f, err := openFolder()
	must(t, err)
	if err := keep(f, 0); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%s is left behind", left[0].Name())
	}
}

// Whoever joins while the folder goes becomes a user of the next one.
func TestJoiningWhileTheFolderGoes(t *testing.T) {
	elsewhere(t)
	for range 100 {
		f, err := openFolder()
		must(t, err)
		keeper := flock.New(f.usersLock())
		must(t, keeper.Lock())
		joined := make(chan error)
		go func() { joined <- joinOnce() }()
		must(t, f.remove())
		must(t, keeper.Close())
		if err := <-joined; err != nil {
			t.Fatal(err)
		}
	}
}

// joinOnce becomes a user and stops being one.
func joinOnce() error {
	f, lock, err := join()
	if err != nil {
		return err
	}
	defer lock.Close()
	if !f.holds(lock) {
		return errors.New("the lock is on a file that nobody finds")
	}
	return nil
}

// A crash empties unlogged tables, those of the template as well.
func TestATemplateIsMadeAgainAfterACrash(t *testing.T) {
	if err := embedpg.Installed(); err != nil {
		t.Fatal(err)
	}
	elsewhere(t)
	dir := filepath.Join(os.TempDir(), "hub")
	own, err := embedpg.Start(t.Context(), embedpg.Options{DataDir: dir, Settings: map[string]string{"fsync": "off"}})
	must(t, err)
	defer own.Stop(context.Background())
	admin, err := pgxpool.New(t.Context(), own.URL())
	must(t, err)
	defer admin.Close()
	s := &server{url: own.URL(), admin: admin}
	_, err = s.makeTemplate(t.Context())
	must(t, err)
	Crash(t, dir, admin)
	name, err := s.makeTemplate(t.Context())
	must(t, err)
	conn, err := pgx.Connect(t.Context(), on(s.url, name))
	must(t, err)
	defer conn.Close(context.Background())
	var rows int
	must(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM replay_epoch`).Scan(&rows))
	if rows != 1 {
		t.Errorf("%d rows in an unlogged table, want the one it is made with", rows)
	}
}
