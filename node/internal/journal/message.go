package journal

import (
	"time"

	"github.com/anet-hub/anet/shared/task"
)

// Message is one turn of a task. Its id was minted by the sending node and
// means something inside this task only (F.3).
type Message struct {
	Seq      int64
	Task     string
	ID       string
	From     Role
	Kind     string
	Body     string
	Metadata []byte
	At       time.Time
}

// AddMessage records a turn and gives it its number; false when the task has one
// of that id from that side already, and then nothing changed.
func (t *Tx) AddMessage(m *Message) (bool, error) {
	if m.At.IsZero() {
		m.At = t.now
	}
	t.touched = true
	return t.one(`INSERT INTO message (task, id, sender, kind, body, metadata, at) VALUES (?,?,?,?,?,?,?)
		ON CONFLICT (task, sender, id) DO NOTHING RETURNING seq`,
		[]any{m.Task, m.ID, m.From, m.Kind, m.Body, m.Metadata, ms(m.At)}, &m.Seq)
}

// Messages are the turns of a task, oldest first.
func (t *Tx) Messages(id string) ([]Message, error) {
	return collect(t, func(row scanner) (m Message, err error) {
		var when int64
		err = row.Scan(&m.Seq, &m.Task, &m.ID, &m.From, &m.Kind, &m.Body, &m.Metadata, &when)
		m.At = at(when)
		return m, err
	}, `SELECT seq, task, id, sender, kind, body, metadata, at FROM message WHERE task = ? ORDER BY seq`, id)
}

// AddFiles stores the attachments of a message; message 0 is the delegation.
func (t *Tx) AddFiles(id string, message int64, files []task.Attachment) error {
	for n, f := range files {
		err := t.exec(`INSERT INTO attachment (task, message, n, name, mime, size, cid, data)
			VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
			id, message, n, f.Name, f.Mime, f.Size, f.CID, nonNil(f.Data))
		if err != nil {
			return err
		}
	}
	return nil
}

// nonNil keeps an empty file from being written as NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Files lists the attachments of a task by message, without their data: a
// thread is looked at more often than its files.
func (t *Tx) Files(id string) (map[int64][]task.Attachment, error) {
	type row struct {
		message int64
		file    task.Attachment
	}
	all, err := collect(t, func(s scanner) (r row, err error) {
		return r, s.Scan(&r.message, &r.file.Name, &r.file.Mime, &r.file.Size, &r.file.CID)
	}, `SELECT message, name, mime, size, cid FROM attachment WHERE task = ? ORDER BY message, n`, id)
	files := map[int64][]task.Attachment{}
	for _, r := range all {
		files[r.message] = append(files[r.message], r.file)
	}
	return files, err
}

// File finds one attachment of the task by the id of its content.
func (t *Tx) File(id, cid string) (task.Attachment, bool, error) {
	all, err := collect(t, scanFile, `SELECT name, mime, size, cid, data FROM attachment
		WHERE task = ? AND cid = ? LIMIT 1`, id, cid)
	if err != nil || len(all) == 0 {
		return task.Attachment{}, false, err
	}
	return all[0], true, nil
}

func scanFile(row scanner) (f task.Attachment, err error) {
	return f, row.Scan(&f.Name, &f.Mime, &f.Size, &f.CID, &f.Data)
}
