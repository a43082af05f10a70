package inbound

import (
	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/task"
)

// What an open node keeps of agents on no list is bounded, per agent and over
// all of them: AIDs cost nothing, so the bound of one alone is none.

// rowWeight stands for what a task or a turn costs beside its content.
const rowWeight = 1 << 10

// weightOf is what keeping a stranger's request costs.
func weightOf(o order, k journal.Task) int64 {
	n := rowWeight + len(k.Doc) + len(k.Goal) + len(k.PeerKEL) + len(k.PeerKeys)
	return int64(n) + filesWeight(o.req.Attachments)
}

// turnWeight is what keeping a stranger's turn costs.
func turnWeight(msg task.ChatMsg) int64 {
	return int64(rowWeight+len(msg.Body)+len(msg.Metadata)) + filesWeight(msg.Attachments)
}

func filesWeight(files []task.Attachment) (n int64) {
	for _, f := range files {
		n += int64(len(f.Name) + len(f.Mime) + len(f.CID) + len(f.Data))
	}
	return n
}

// decideRoom says why more cannot be kept beside what is kept already, of the
// stranger and of all of them; nil when there is room. Tasks are those without
// an end, bytes all that is kept: a stranger can end its own tasks.
func decideRoom(limit config.Strangers, of, all journal.Load, more journal.Load) *Refusal {
	switch {
	case more.Bytes > min(limit.PerCallerBytes, limit.MaxBytes):
		return &Refusal{Reason: task.ArgsTooLarge}
	case of.Tasks+more.Tasks > limit.PerCallerTasks, of.Bytes+more.Bytes > limit.PerCallerBytes,
		all.Tasks+more.Tasks > limit.MaxTasks, all.Bytes+more.Bytes > limit.MaxBytes:
		return &Refusal{Reason: task.PendingFull}
	}
	return nil
}

// room is decideRoom over what the journal holds. The refusal is its error, so
// that whatever the transaction wrote before is undone.
func (h *Handler) room(tx *journal.Tx, from string, more journal.Load) error {
	of, err := tx.StrangerLoad(from)
	if err != nil {
		return err
	}
	all, err := tx.StrangersLoad()
	if err != nil {
		return err
	}
	if r := decideRoom(h.Strangers, of, all, more); r != nil {
		return noRoom{*r}
	}
	return nil
}

// noRoom is a refusal on its way out of a transaction.
type noRoom struct{ Refusal }

func (n noRoom) Error() string { return string(n.Reason) }
