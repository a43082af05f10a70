package node

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// A message that comes to nothing costs less than four times its size before
// that is decided.
func TestRefusedMailIsCheap(t *testing.T) {
	const size = 24 << 20
	story(t, func(t *testing.T, w *world) {
		bob, eve := w.node("bob"), w.stranger()
		for _, tt := range []struct {
			name string
			make func(ix string) task.DelegateReq
		}{
			{"a file", func(ix string) task.DelegateReq {
				r := eve.words(ix)
				f, err := task.NewAttachment("a", "", make([]byte, size))
				w.must(err)
				r.Attachments = []task.Attachment{f}
				return r
			}},
			{"a text", func(ix string) task.DelegateReq {
				r, err := task.NewDelegate(eve.signer, ix, task.NewText(strings.Repeat("x", size)))
				w.must(err)
				return r
			}},
		} {
			ix := "ix_" + tt.name
			e := eve.seal(bob, task.TypeDelegate, ix, body(w, tt.make(ix)))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w.hub.Put(bob.aid(), e)
			synctest.Wait()
			runtime.ReadMemStats(&after)
			if bob.Dropped.All()[string(task.NotAccepting)] == 0 {
				t.Errorf("%s: dropped %v", tt.name, bob.Dropped.All())
			}
			if grown := after.TotalAlloc - before.TotalAlloc - uint64(len(e)); grown > 4*uint64(len(e)) { // the hub's copy aside
				t.Errorf("%s of %d bytes took %d, want less than four times that", tt.name, len(e), grown)
			}
		}
	})
}

// A document that is too large to be read is refused with the reason that holds
// for its sender, and is not sent in the first place.
func TestADocumentTooLargeToBeRead(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		bob, eve := w.node("bob", open), w.stranger()
		req, err := task.NewDelegate(eve.signer, "ix_1", task.NewText(strings.Repeat("x", task.MaxDoc)))
		w.must(err)
		eve.send(bob, task.TypeDelegate, "ix_1", body(w, req))
		synctest.Wait()
		if told := eve.told(); !one(told, "rejected args_too_large") {
			t.Errorf("told %q, want the refusal", told)
		}
		_, err = bob.StartTask(t.Context(), Order{Provider: eve.signer.AID(), Text: strings.Repeat("x", task.MaxDoc)})
		if !errs.Is(err, "text_too_large") {
			t.Errorf("StartTask = %v, want text_too_large", err)
		}
	})
}
