package mailbox

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/hubtest"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

func openJournal(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), journal.FileName), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// fetched puts mail into a mailbox and fetches it.
func fetched(t *testing.T, j *journal.Journal, mail ...string) (told []int) {
	t.Helper()
	hub := hubtest.New()
	hub.Open(me)
	for _, m := range mail {
		hub.Put(me, []byte(m))
	}
	n, err := Fetch(t.Context(), hub.Line(me), j, func(n int) { told = append(told, n) })
	if err != nil || n != len(mail) || len(hub.Mail(me)) != 0 {
		t.Fatalf("fetched %d of %d, %v; %d are left", n, len(mail), err, len(hub.Mail(me)))
	}
	return told
}

// receiving is a node at a hub, with what it fetched from another.
func receiving(t *testing.T, hub Hub, j *journal.Journal) (*reader, *Mailbox, func()) {
	t.Helper()
	r := &reader{}
	box := New(Carrying(hub, j), r, j.Sync, Events{}, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- box.Run(ctx) }()
	return r, box, func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func carried(t *testing.T, j *journal.Journal) (last int64) {
	t.Helper()
	err := j.Read(t.Context(), func(tx *journal.Tx) (err error) { last, err = tx.LastCarried(); return err })
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// What was fetched from a hub is received beside the mail of the next one, whatever
// numbers that has, and each message is forgotten where it lay.
func TestFetchedMailIsReceived(t *testing.T) {
	j := openJournal(t)
	var mail []string
	for i := range 230 {
		mail = append(mail, fmt.Sprint("good ", i))
	}
	if told := fetched(t, j, mail...); !slices.Equal(told, []int{100, 200, 230}) {
		t.Errorf("told of %v", told)
	}
	hub := hubtest.New()
	hub.Open(me)
	hub.Put(me, []byte("good of the new hub"))
	r, _, end := receiving(t, hub.Line(me), j)
	testkit.Until(t, "all is received and forgotten", func() bool {
		return r.len() == 231 && carried(t, j) == 0 && len(hub.Mail(me)) == 0
	})
	hub.Put(me, []byte("good and later"))
	testkit.Until(t, "what comes later is, too", func() bool {
		return r.count("good and later") == 1 && len(hub.Mail(me)) == 0
	})
	end()
	for _, m := range mail {
		if r.count(m) != 1 {
			t.Fatalf("%s was received %d times", m, r.count(m))
		}
	}
}

// It is received without a hub, and what has to wait is there after a start.
func TestFetchedMailNeedsNoHub(t *testing.T) {
	j := openJournal(t)
	fetched(t, j, "good", "early")
	hub := hubtest.New()
	hub.Open(me)
	hub.Down(errs.New(errs.Unavailable, "down", "down"))
	r, box, end := receiving(t, hub.Line(me), j)
	testkit.Until(t, "one is received and one waits", func() bool {
		return r.count("good") == 1 && box.State().Waiting == 1 && carried(t, j) == 2
	})
	end()
	hub.Down(nil)
	r, box, end = receiving(t, hub.Line(me), j)
	testkit.Until(t, "it waits again", func() bool { return box.State().Waiting == 1 })
	end()
	if r.len() != 0 || carried(t, j) != 2 {
		t.Errorf("%d were received again, the last of those carried is %d", r.len(), carried(t, j))
	}
}

// A hub that fails in between has given what was fetched by then.
func TestAFetchThatFails(t *testing.T) {
	j, hub := openJournal(t), hubtest.New()
	hub.Open(me)
	for range 150 {
		hub.Put(me, []byte("good"))
	}
	down := errs.New(errs.Unavailable, "down", "down")
	n, err := Fetch(t.Context(), hub.Line(me), j, func(int) { hub.Down(down) })
	if n != 100 || !errs.Is(err, "down") || carried(t, j) != 100 {
		t.Errorf("fetched %d, %v; %d are carried", n, err, carried(t, j))
	}
	hub.Down(nil)
	if n, err := Fetch(t.Context(), hub.Line(me), j, func(int) {}); n != 50 || err != nil || carried(t, j) != 150 {
		t.Errorf("then %d, %v; %d are carried", n, err, carried(t, j))
	}
}
