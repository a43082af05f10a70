package inbound

import (
	"testing"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/task"
)

func TestRoomForStrangers(t *testing.T) {
	limit := config.Strangers{MaxTasks: 5, MaxBytes: 100, PerCallerTasks: 2, PerCallerBytes: 40}
	load := func(of ...int64) (l journal.Load) {
		if len(of) == 2 {
			l.Tasks, l.Bytes = of[0], of[1]
		}
		return l
	}
	for _, tt := range []struct {
		name    string
		of, all journal.Load
		more    journal.Load
		want    task.Reason
	}{
		{"the first", load(), load(), load(1, 40), ""},
		{"one byte more than one may have at all", load(), load(), load(1, 41), task.ArgsTooLarge},
		{"its last task", load(1, 10), load(4, 60), load(1, 30), ""},
		{"one task too many of one", load(2, 10), load(2, 10), load(1, 10), task.PendingFull},
		{"one byte too many of one", load(1, 30), load(1, 30), load(1, 11), task.PendingFull},
		{"one task too many of all", load(), load(5, 50), load(1, 10), task.PendingFull},
		{"one byte too many of all", load(), load(4, 90), load(1, 11), task.PendingFull},
		{"a turn needs no task", load(2, 10), load(5, 50), load(0, 10), ""},
		{"a turn needs bytes", load(2, 35), load(5, 50), load(0, 10), task.PendingFull},
	} {
		got := decideRoom(limit, tt.of, tt.all, tt.more)
		if (got == nil) != (tt.want == "") || got != nil && got.Reason != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, got, tt.want)
		}
	}
	limit.MaxBytes = 20
	if got := decideRoom(limit, load(), load(), load(1, 30)); got == nil || got.Reason != task.ArgsTooLarge {
		t.Errorf("more than all together may have: %v, want %q", got, task.ArgsTooLarge)
	}
}
