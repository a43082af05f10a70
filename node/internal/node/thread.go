package node

import (
	"context"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Thread shows a task with everything said in it.
func (n *Node) Thread(ctx context.Context, id string) (t Thread, err error) {
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		k, err := tx.NeedTask(id)
		if err != nil {
			return err
		}
		if t.Task, err = n.view(tx, k); err != nil {
			return err
		}
		t.Files, t.Messages, err = conversation(tx, k)
		return err
	})
	return t, err
}

func conversation(tx *journal.Tx, k journal.Task) (ofRequest []File, turns []Message, err error) {
	said, err := tx.Messages(k.ID)
	if err != nil {
		return nil, nil, err
	}
	files, err := tx.Files(k.ID)
	if err != nil {
		return nil, nil, err
	}
	waiting, err := unsent(tx, k.ID)
	turns = make([]Message, 0, len(said))
	for _, m := range said {
		turn := Message{ID: m.ID, From: Role(m.From), Kind: m.Kind, Text: m.Body, Files: described(files[m.Seq]), At: m.At}
		if m.From == k.Role {
			sent := !waiting[m.ID]
			turn.Sent = &sent
		}
		turns = append(turns, turn)
	}
	return described(files[0]), turns, err
}

// unsent are the ids of this node's messages that the hub has not taken.
func unsent(tx *journal.Tx, id string) (map[string]bool, error) {
	out, err := tx.Outgoing(id)
	waiting := map[string]bool{}
	for _, o := range out {
		if o.Sent.IsZero() {
			waiting[hexMID(o.MID)] = true
		}
	}
	return waiting, err
}

func described(files []task.Attachment) []File {
	var out []File
	for _, f := range files {
		out = append(out, File{Name: f.Name, Mime: f.Mime, Size: f.Size, CID: f.CID})
	}
	return out
}

// File gives the content of an attachment.
func (n *Node) File(ctx context.Context, id, cid string) (f File, err error) {
	err = n.Journal.Read(ctx, func(tx *journal.Tx) error {
		a, found, err := tx.File(id, cid)
		if err == nil && !found {
			err = errs.New(errs.NotFound, "file_unknown", "the task %s has no file %s", id, cid)
		}
		f = File{Name: a.Name, Mime: a.Mime, Size: a.Size, CID: a.CID, Data: a.Data}
		return err
	})
	return f, err
}
