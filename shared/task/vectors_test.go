package task_test

import (
	"testing"

	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/testkit/vectors"
)

// Checklist 28 and 29. A signature holds a moment later as well.
func TestVectorsBodies(t *testing.T) {
	vectors.Test(t, "testdata/bodies.json", "verify_at", "msg_time")
}

// What is refused for one reason is refused for another as well.
func TestVectorsTranscript(t *testing.T) {
	vectors.Test(t, "testdata/transcript.json", "invalid")
}

func FuzzBodies(f *testing.F) {
	vectors.Seeds(f, "testdata/bodies.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		readAgain[task.ChatMsg](t, raw)
		readAgain[task.StatusMsg](t, raw)
		readAgain[task.ResultResp](t, raw)
		readAgain[task.DelegateReq](t, raw)
		if d, err := task.Parse[task.DelegateReq](raw); err == nil {
			d.Verify(task.Sender{Ix: d.InteractionID})
		}
		if r, err := task.Parse[task.ResultResp](raw); err == nil {
			r.CheckReceipt(task.Ordered{}, task.Sender{})
		}
	})
}

func readAgain[B task.Body](t *testing.T, raw []byte) {
	t.Helper()
	b, err := task.Parse[B](raw)
	if err != nil {
		return
	}
	out, err := task.Encode(b)
	if err != nil {
		t.Fatalf("%x is read and not written: %v", raw, err)
	}
	if _, err := task.Parse[B](out); err != nil {
		t.Fatalf("%x is written as %x and not read: %v", raw, out, err)
	}
}

func FuzzTaskDoc(f *testing.F) {
	vectors.Seeds(f, "testdata/bodies.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := task.ParseTaskDoc(raw)
		if err != nil {
			return
		}
		d.Goal()
		d.Nonce()
		d.Call()
		if _, err := task.DocPreimage(raw); err != nil {
			t.Fatalf("%x is a document without a preimage: %v", raw, err)
		}
		out, err := d.Bytes()
		if err != nil {
			t.Fatalf("%x is read and not written: %v", raw, err)
		}
		if _, err := task.ParseTaskDoc(out); err != nil {
			t.Fatalf("%x is written as %x and not read: %v", raw, out, err)
		}
	})
}
