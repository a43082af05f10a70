package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/task"
)

func copyFiles(from, to string) error {
	names, err := filepath.Glob(filepath.Join(from, "journal.db*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func TestReplayRowsOutliveTheirMessage(t *testing.T) {
	j, c := newJournal(t)
	exp := c.t.Add(time.Hour)
	remember := func(want bool, when string) {
		t.Helper()
		j.must(t, func(tx *Tx) error {
			first, err := tx.Remember("a", []byte("mid"), exp)
			if first != want {
				t.Errorf("%s: Remember = %v, want %v", when, first, want)
			}
			return err
		})
	}
	purge := func() { j.must(t, func(tx *Tx) error { _, err := tx.PurgeReplay(); return err }) }
	remember(true, "first copy")
	remember(false, "second copy")
	c.t = exp.Add(ReplayMargin)
	purge()
	remember(false, "at exp + 5 min")
	c.t = c.t.Add(time.Second)
	purge()
	remember(true, "after exp + 5 min")
}

// Checklist 26: what makes way turns into a floor of that sender alone.
func TestRefusalsPushedOutBecomeAFloor(t *testing.T) {
	j, c := newJournal(t)
	refuse := func(from string, n int) {
		j.must(t, func(tx *Tx) error {
			return tx.Refuse(Refusal{
				From: from, MID: fmt.Appendf(nil, "mid-%d", n),
				TS: c.t.Add(time.Duration(n) * time.Second), Exp: c.t.Add(24 * time.Hour),
			})
		})
	}
	refuse("quiet", 0)
	for n := range RefusalsPerSender + 2 {
		refuse("loud", n)
	}
	j.must(t, func(tx *Tx) error {
		for _, row := range []struct {
			from             string
			n                int
			refused, floored bool
		}{
			{"loud", 0, false, true},
			{"loud", 1, false, true},
			{"loud", 2, true, false},
			{"loud", RefusalsPerSender + 1, true, false},
			{"quiet", 0, true, false},
		} {
			refused, err := tx.Refused(row.from, fmt.Appendf(nil, "mid-%d", row.n))
			if err != nil {
				return err
			}
			floored, err := tx.BelowFloor(row.from, c.t.Add(time.Duration(row.n)*time.Second))
			if err != nil {
				return err
			}
			if refused != row.refused || floored != row.floored {
				t.Errorf("%s message %d: refused %v, below the floor %v; want %v, %v",
					row.from, row.n, refused, floored, row.refused, row.floored)
			}
		}
		return nil
	})
}

func TestRefusalsAreForgottenWithTheirMessages(t *testing.T) {
	j, c := newJournal(t)
	j.must(t, func(tx *Tx) error {
		return tx.Refuse(Refusal{From: "a", MID: []byte("m"), TS: c.t, Exp: c.t.Add(time.Hour)})
	})
	c.t = c.t.Add(time.Hour + ReplayMargin + time.Second)
	j.must(t, func(tx *Tx) error {
		if _, err := tx.PurgeRefusals(15 * 24 * time.Hour); err != nil {
			return err
		}
		refused, err := tx.Refused("a", []byte("m"))
		if refused {
			t.Error("a refusal outlived its message")
		}
		return err
	})
}

func due(t *testing.T, j *Journal) (mids []string) {
	t.Helper()
	j.must(t, func(tx *Tx) error {
		all, err := tx.Due(10)
		for _, o := range all {
			mids = append(mids, string(o.MID))
		}
		return err
	})
	return mids
}

// Checklist 65: FIFO per task and peer.
func TestOutboxIsFirstInFirstOutPerTask(t *testing.T) {
	j, c := newJournal(t)
	rows := []Outgoing{{Task: "ix_1", Peer: "p", MID: []byte("1a")}, {Task: "ix_1", Peer: "p", MID: []byte("1b")},
		{Task: "ix_2", Peer: "p", MID: []byte("2a")}}
	j.must(t, func(tx *Tx) error {
		for i := range rows {
			rows[i].Exp = c.t.Add(time.Hour)
			if err := tx.Enqueue(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if got := fmt.Sprint(due(t, j)); got != "[1a 2a]" {
		t.Errorf("due at first = %s, want the head of each task", got)
	}
	j.must(t, func(tx *Tx) error { return tx.Postpone(rows[0], c.t.Add(time.Minute), false, "hub away") })
	if got := fmt.Sprint(due(t, j)); got != "[2a]" {
		t.Errorf("due while the head waits = %s, want nothing of its task", got)
	}
	j.must(t, func(tx *Tx) error { return tx.MarkSent(rows[0], true) })
	if got := fmt.Sprint(due(t, j)); got != "[1b 2a]" && got != "[2a 1b]" {
		t.Errorf("due after the head went out = %s, want its follower", got)
	}
}

// A kill in the middle of an attempt must not make the message look untouched:
// whether its call was attempted hangs on that.
func TestAnAttemptIsUncertainUntilItEnded(t *testing.T) {
	j, c := newJournal(t)
	o := Outgoing{Task: "t", Peer: "p", MID: []byte("m"), Sealed: []byte("bytes"), Exp: c.t.Add(time.Hour)}
	j.must(t, func(tx *Tx) error { return tx.Enqueue(&o) })
	j.must(t, func(tx *Tx) error {
		there, err := tx.Attempting(o.ID)
		if err != nil || !there {
			t.Fatalf("Attempting = %v, %v", there, err)
		}
		all, err := tx.Outgoing("t")
		if err == nil && (all[0].Attempts != 1 || !all[0].Uncertain) {
			t.Errorf("%d attempts, uncertain %v; want one and true", all[0].Attempts, all[0].Uncertain)
		}
		return err
	})
}

func TestResendOnlyWhatWasSent(t *testing.T) {
	j, c := newJournal(t)
	o := Outgoing{Task: "ix_1", Peer: "p", MID: []byte("m"), Sealed: []byte("bytes"), Exp: c.t.Add(time.Hour)}
	resend := func(want bool, when string) {
		t.Helper()
		j.must(t, func(tx *Tx) error {
			sent, err := tx.AnswerSent("ix_1", "p")
			if sent != want {
				t.Errorf("%s: AnswerSent = %v, want %v", when, sent, want)
			}
			if err != nil || !sent {
				return err
			}
			return tx.Resend("ix_1", "p")
		})
	}
	j.must(t, func(tx *Tx) error { return tx.Enqueue(&o) })
	resend(false, "still waiting")
	j.must(t, func(tx *Tx) error { return tx.MarkSent(o, true) })
	resend(true, "sent")
	j.must(t, func(tx *Tx) error { return tx.MarkSent(o, true) })
	c.t = o.Exp
	resend(false, "expired")
}

func TestMessagesAndFiles(t *testing.T) {
	j, _ := newJournal(t)
	j.must(t, func(tx *Tx) error {
		k := Task{ID: "ix_1", Role: Provider, State: task.Working}
		if err := tx.PutTask(&k); err != nil {
			return err
		}
		m := Message{Task: "ix_1", ID: "m1", From: Requester, Kind: "text", Body: "hello"}
		again := m
		for i, turn := range []*Message{&m, &again} {
			if added, err := tx.AddMessage(turn); err != nil || added != (i == 0) {
				t.Errorf("turn %d of one id: added %v, %v; want the first alone", i+1, added, err)
			}
		}
		return tx.AddFiles("ix_1", m.Seq, []task.Attachment{{Name: "empty", CID: "c0"}, {Name: "a", CID: "c1", Data: []byte("x"), Size: 1}})
	})
	err := j.Read(t.Context(), func(tx *Tx) error {
		turns, err := tx.Messages("ix_1")
		if err != nil || len(turns) != 1 {
			t.Fatalf("Messages = %v, %v; want one", turns, err)
		}
		files, err := tx.Files("ix_1")
		if err != nil || len(files[turns[0].Seq]) != 2 {
			t.Errorf("Files = %v, %v; want two on the turn", files, err)
		}
		f, found, err := tx.File("ix_1", "c1")
		if err != nil || !found || string(f.Data) != "x" {
			t.Errorf("File(c1) = %q, %v, %v; want its data", f.Data, found, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPublicCallsAreDeletedAndTheirEvidenceStays(t *testing.T) {
	j, c := newJournal(t)
	week := 7 * 24 * time.Hour
	j.must(t, func(tx *Tx) error {
		for _, k := range []Task{
			{ID: "ix_public", Role: Provider, Trust: TrustPublicCap, State: task.Completed, Ended: c.t},
			{ID: "ix_peer", Role: Provider, Trust: TrustPeer, State: task.Completed, Ended: c.t},
			{ID: "ix_mine", Role: Requester, State: task.Completed, Ended: c.t},
		} {
			if err := tx.PutTask(&k); err != nil {
				return err
			}
		}
		return tx.AddEvidence(Evidence{Task: "ix_public", Role: Provider, Receipt: []byte("r")})
	})
	c.t = c.t.Add(week + time.Minute)
	j.must(t, func(tx *Tx) error {
		n, err := tx.PurgeTasks(c.t.Add(-week))
		if n != 1 {
			t.Errorf("PurgeTasks deleted %d tasks, want the public call alone", n)
		}
		if err != nil {
			return err
		}
		if _, found, err := tx.Evidence("ix_public", Provider); err != nil || !found {
			t.Errorf("evidence of the deleted call: found %v, %v; want it kept", found, err)
		}
		return nil
	})
}
