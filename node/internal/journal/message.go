package journal

import "time"

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

// Attachment is a file of a message, or of the delegation itself.
type Attachment struct {
	Name, Mime, CID string
	Size            int64
	Data            []byte
}

// AddMessage records a turn and gives it its number; a turn already recorded is
// left alone.
func (t *Tx) AddMessage(m *Message) error {
	if m.At.IsZero() {
		m.At = t.now
	}
	t.touched = true
	_, err := t.one(`INSERT INTO message (task, id, sender, kind, body, metadata, at) VALUES (?,?,?,?,?,?,?)
		ON CONFLICT (task, sender, id) DO UPDATE SET id = excluded.id RETURNING seq`,
		[]any{m.Task, m.ID, m.From, m.Kind, m.Body, m.Metadata, ms(m.At)}, &m.Seq)
	return err
}

// Messages are the turns of a task, oldest first.
func (t *Tx) Messages(task string) ([]Message, error) {
	return collect(t, func(row scanner) (m Message, err error) {
		var when int64
		err = row.Scan(&m.Seq, &m.Task, &m.ID, &m.From, &m.Kind, &m.Body, &m.Metadata, &when)
		m.At = at(when)
		return m, err
	}, `SELECT seq, task, id, sender, kind, body, metadata, at FROM message WHERE task = ? ORDER BY seq`, task)
}

// AddFiles stores the attachments of a message; message 0 is the delegation.
func (t *Tx) AddFiles(task string, message int64, files []Attachment) error {
	for n, f := range files {
		err := t.exec(`INSERT INTO attachment (task, message, n, name, mime, size, cid, data)
			VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
			task, message, n, f.Name, f.Mime, f.Size, f.CID, nonNil(f.Data))
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
func (t *Tx) Files(task string) (map[int64][]Attachment, error) {
	type row struct {
		message int64
		file    Attachment
	}
	all, err := collect(t, func(s scanner) (r row, err error) {
		return r, s.Scan(&r.message, &r.file.Name, &r.file.Mime, &r.file.Size, &r.file.CID)
	}, `SELECT message, name, mime, size, cid FROM attachment WHERE task = ? ORDER BY message, n`, task)
	files := map[int64][]Attachment{}
	for _, r := range all {
		files[r.message] = append(files[r.message], r.file)
	}
	return files, err
}

// FilesOf gives the attachments of one message with their data.
func (t *Tx) FilesOf(task string, message int64) ([]Attachment, error) {
	return collect(t, scanFile, `SELECT name, mime, size, cid, data FROM attachment
		WHERE task = ? AND message = ? ORDER BY n`, task, message)
}

// File finds one attachment of the task by the id of its content.
func (t *Tx) File(task, cid string) (Attachment, bool, error) {
	all, err := collect(t, scanFile, `SELECT name, mime, size, cid, data FROM attachment
		WHERE task = ? AND cid = ? LIMIT 1`, task, cid)
	if err != nil || len(all) == 0 {
		return Attachment{}, false, err
	}
	return all[0], true, nil
}

func scanFile(row scanner) (f Attachment, err error) {
	return f, row.Scan(&f.Name, &f.Mime, &f.Size, &f.CID, &f.Data)
}
