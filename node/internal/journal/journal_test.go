package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// testClock stands still until it is moved.
type testClock struct{ t time.Time }

func (c *testClock) now() time.Time { return c.t }

func newClock() *testClock {
	return &testClock{t: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
}

func openTest(t *testing.T, path string, c *testClock) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path, c.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func newJournal(t *testing.T) (*Journal, *testClock) {
	c := newClock()
	return openTest(t, filepath.Join(t.TempDir(), "journal.db"), c), c
}

func (j *Journal) must(t *testing.T, f func(*Tx) error) {
	t.Helper()
	if err := j.Write(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}

func TestTaskSurvivesReopening(t *testing.T) {
	c, path := newClock(), filepath.Join(t.TempDir(), "a folder?", "..", "journal.db")
	j := openTest(t, path, c)
	k := Task{
		ID: "ix_1", Role: Provider, Peer: "bpeer", Capability: "text.digest", Args: []byte(`{"a":1}`),
		State: task.Working, Trust: TrustPublicCap, RetryAfter: 3 * time.Second, PeerKEL: []byte{1}, Started: true,
	}
	j.must(t, func(tx *Tx) error { return tx.PutTask(&k) })
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	j = openTest(t, path, c)
	j.must(t, func(tx *Tx) error {
		got, found, err := tx.Task("ix_1")
		if err != nil || !found {
			t.Fatalf("Task after reopening: found %v, %v", found, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(k) {
			t.Errorf("Task after reopening =\n%v\nwant\n%v", got, k)
		}
		if err := tx.PutTask(&got); err != nil {
			return err
		}
		if got.Version != k.Version+1 {
			t.Errorf("version after reopening = %d, want %d: it must go on growing", got.Version, k.Version+1)
		}
		return nil
	})
}

// Checklist 25: the replay row and the business write stand or fall together.
func TestFailedTransactionLeavesNothing(t *testing.T) {
	j, _ := newJournal(t)
	wrong := errors.New("wrong")
	err := j.Write(t.Context(), func(tx *Tx) error {
		if _, err := tx.Remember("a", []byte("mid"), tx.Now().Add(time.Hour)); err != nil {
			return err
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Fatalf("Write = %v, want the function's own error", err)
	}
	j.must(t, func(tx *Tx) error {
		if seen, err := tx.Seen("a", []byte("mid")); err != nil || seen {
			t.Errorf("Seen after a rollback = %v, %v; want false", seen, err)
		}
		return nil
	})
}

func TestWriteFinishesThoughTheCallerStops(t *testing.T) {
	j, _ := newJournal(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := j.Write(ctx, func(tx *Tx) error { return tx.PutTask(&Task{ID: "ix_1", Role: Requester, State: task.Submitted}) })
	if err != nil {
		t.Errorf("Write under a stopped context = %v, want it recorded", err)
	}
}

func TestWriteSoonReturnsToDurable(t *testing.T) {
	j, _ := newJournal(t)
	err := j.WriteSoon(t.Context(), func(tx *Tx) error { return tx.PutTask(&Task{ID: "ix_1", Role: Requester, State: task.Submitted}) })
	if err != nil {
		t.Fatal(err)
	}
	var level int
	if err := j.write.QueryRow(`PRAGMA synchronous`).Scan(&level); err != nil || level != 2 {
		t.Errorf("synchronous after WriteSoon = %d, %v; want 2 (FULL)", level, err)
	}
	if err := j.Read(t.Context(), func(tx *Tx) error { _, err := tx.NeedTask("ix_1"); return err }); err != nil {
		t.Errorf("the soft write is not visible: %v", err)
	}
}

func TestNewerJournalIsRefused(t *testing.T) {
	c, path := newClock(), filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, c)
	if _, err := j.write.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`); err != nil {
		t.Fatal(err)
	}
	j.Close()
	_, err := Open(t.Context(), path, c.now)
	if !errs.Is(err, "journal_too_new") {
		t.Errorf("Open of a newer journal = %v, want journal_too_new", err)
	}
}

func TestChangedTellsOfTasksOnly(t *testing.T) {
	j, _ := newJournal(t)
	told := j.Changed()
	j.must(t, func(tx *Tx) error { _, err := tx.Remember("a", []byte("m"), tx.Now()); return err })
	select {
	case <-told:
		t.Error("a replay row woke those who wait for tasks")
	default:
	}
	j.must(t, func(tx *Tx) error { return tx.PutTask(&Task{ID: "ix_1", Role: Requester, State: task.Submitted}) })
	select {
	case <-told:
	default:
		t.Error("a new task woke nobody")
	}
}

func TestNothingLeavesATerminalState(t *testing.T) {
	for _, s := range []task.State{task.Completed, task.Failed, task.Canceled, task.Rejected} {
		k := Task{State: s}
		if k.To(task.Working, time.Now()) || k.State != s {
			t.Errorf("from %s to working: state is now %s, want it unchanged", s, k.State)
		}
	}
	k, end := Task{State: task.InputRequired}, time.Now()
	if !k.To(task.Completed, end) || !k.Ended.Equal(end) {
		t.Errorf("to completed: %v, ended %v; want it ended now", k.State, k.Ended)
	}
}

func TestTasksPageWithoutGapOrRepeat(t *testing.T) {
	j, _ := newJournal(t)
	j.must(t, func(tx *Tx) error {
		for i := range 25 {
			k := Task{ID: fmt.Sprintf("ix_%02d", i), Role: Requester, State: task.Submitted, Peer: "p"}
			if i%5 == 0 {
				k.Role = Provider
			}
			if err := tx.PutTask(&k); err != nil {
				return err
			}
		}
		return nil
	})
	seen, f := map[string]bool{}, Filter{Role: Requester, Limit: 7}
	for {
		var page []Task
		err := j.Read(t.Context(), func(tx *Tx) (err error) { page, err = tx.Tasks(f); return err })
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range page {
			if seen[k.ID] || k.Role != Requester {
				t.Errorf("page holds %s of role %s again or against the filter", k.ID, k.Role)
			}
			seen[k.ID] = true
		}
		if len(page) < f.Limit {
			break
		}
		f.Before = page[len(page)-1].Version
	}
	if len(seen) != 20 {
		t.Errorf("paging found %d tasks, want 20", len(seen))
	}
}

func TestConcurrentWritersKeepOneOrder(t *testing.T) {
	j, _ := newJournal(t)
	done := make(chan error)
	for i := range 8 {
		go func() {
			done <- j.Write(context.Background(), func(tx *Tx) error {
				return tx.PutTask(&Task{ID: fmt.Sprint("ix_", i), Role: Requester, State: task.Submitted})
			})
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	var versions int
	if err := j.write.QueryRow(`SELECT count(DISTINCT version) FROM task`).Scan(&versions); err != nil || versions != 8 {
		t.Errorf("%d versions, %v; want 8 different ones", versions, err)
	}
}

// A kill in the middle of a transaction is a WAL without its commit: the file
// is copied in that moment and opened again.
func TestKillInsideATransaction(t *testing.T) {
	c, dir := newClock(), t.TempDir()
	j := openTest(t, filepath.Join(dir, "journal.db"), c)
	j.must(t, func(tx *Tx) error { return tx.PutTask(&Task{ID: "ix_kept", Role: Requester, State: task.Submitted}) })
	copied := t.TempDir()
	j.must(t, func(tx *Tx) error {
		if err := tx.PutTask(&Task{ID: "ix_lost", Role: Requester, State: task.Submitted}); err != nil {
			return err
		}
		return copyFiles(dir, copied)
	})
	again := openTest(t, filepath.Join(copied, "journal.db"), c)
	again.must(t, func(tx *Tx) error {
		for id, want := range map[string]bool{"ix_kept": true, "ix_lost": false} {
			if _, found, err := tx.Task(id); err != nil || found != want {
				t.Errorf("after the kill, %s found = %v, %v; want %v", id, found, err, want)
			}
		}
		return nil
	})
	var ok string
	if err := again.write.QueryRow(`PRAGMA integrity_check`).Scan(&ok); err != nil || ok != "ok" {
		t.Errorf("integrity_check = %q, %v", ok, err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	j := openTest(t, filepath.Join(dir, "journal.db"), newClock())
	j.must(t, func(tx *Tx) error { _, err := tx.Remember("a", []byte("m"), tx.Now()); return err })
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) < 3 {
		t.Fatalf("files %v, %v; want the database and its log", names, err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want 0600", filepath.Base(name), info.Mode(), err)
		}
	}
}

func TestSyncOnlyWhenThereIsSomething(t *testing.T) {
	j, _ := newJournal(t)
	marks := func() (n int) {
		if err := j.write.QueryRow(`SELECT n FROM mark`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	soft := func() {
		err := j.WriteSoon(t.Context(), func(tx *Tx) error { return tx.PutTask(&Task{ID: "ix_1", Role: Requester, State: task.Submitted}) })
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"nothing written", func() {}, 0},
		{"two soft writes", func() { soft(); soft() }, 1},
		{"nothing since", func() {}, 1},
		{"a soft write and a hard one after it", func() {
			soft()
			j.must(t, func(tx *Tx) error { _, err := tx.Remember("a", []byte("m"), tx.Now()); return err })
		}, 1},
	} {
		step.do()
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := marks(); got != step.want {
			t.Errorf("%s: %d waits for the disk by now, want %d", step.name, got, step.want)
		}
	}
}
