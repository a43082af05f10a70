package relay

import (
	"context"
	"sync"
	"time"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
)

// memory is a store that keeps its promises without a database.
type memory struct {
	mu     sync.Mutex
	used   map[[16]byte]bool
	boxes  map[string][]Message
	at     map[int64]time.Time
	seen   map[string]time.Time
	last   int64
	inline int64 // bytes of a page that come along
	looks  int
	counts int           // of Totals
	slow   time.Duration // Totals takes this long
	broken error         // Expire fails
}

func newMemory(boxes ...string) *memory {
	m := &memory{
		used: map[[16]byte]bool{}, boxes: map[string][]Message{}, at: map[int64]time.Time{},
		seen: map[string]time.Time{}, inline: 1000,
	}
	for _, aid := range boxes {
		m.boxes[aid] = []Message{}
	}
	return m
}

func (m *memory) use(p replay.Proof) error {
	if m.used[p.Key] {
		return errs.New(errs.Unauthorized, "replayed", "replayed")
	}
	m.used[p.Key] = true
	return nil
}

func (m *memory) Enqueue(_ context.Context, p replay.Proof, mail Mail, l Limits) (Queued, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.use(p); err != nil {
		return Queued{}, err
	}
	box, ok := m.boxes[mail.To]
	if !ok {
		return Queued{NotHere: true}, nil
	}
	if int64(len(box)) >= l.Messages {
		return Queued{}, MailboxFull()
	}
	m.last++
	m.at[m.last] = mail.At
	m.boxes[mail.To] = append(box, Message{ID: m.last, Size: int64(len(mail.Envelope)), Envelope: mail.Envelope})
	return Queued{ID: m.last, LastSeen: m.seen[mail.To], Alone: len(m.boxes[mail.To]) == 1}, nil
}

func (m *memory) Poll(ctx context.Context, p replay.Proof, l Look) ([]Message, error) {
	m.mu.Lock()
	err := m.use(p)
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return m.Look(ctx, l)
}

func (m *memory) Look(_ context.Context, l Look) ([]Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks++
	var out []Message
	var sum int64
	for _, msg := range m.boxes[l.AID] {
		if msg.ID <= l.After || len(out) == l.Limit {
			continue
		}
		if sum += msg.Size; sum > m.inline {
			msg.Envelope = nil
		}
		out = append(out, msg)
	}
	return out, nil
}

func (m *memory) Fetch(_ context.Context, aid string, ids []int64) ([]Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Message
	for _, msg := range m.boxes[aid] {
		for _, id := range ids {
			if msg.ID == id {
				out = append(out, msg)
			}
		}
	}
	return out, nil
}

func (m *memory) Ack(_ context.Context, p replay.Proof, ids []int64) (int64, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.use(p); err != nil {
		return 0, 0, err
	}
	n, bytes := m.drop(p.AID, func(msg Message) bool {
		for _, id := range ids {
			if msg.ID == id {
				return true
			}
		}
		return false
	})
	return n, bytes, nil
}

func (m *memory) drop(aid string, gone func(Message) bool) (n, bytes int64) {
	var kept []Message
	for _, msg := range m.boxes[aid] {
		if gone(msg) {
			n, bytes = n+1, bytes+msg.Size
		} else {
			kept = append(kept, msg)
		}
	}
	m.boxes[aid] = kept
	return n, bytes
}

func (m *memory) breaks(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
}

func (m *memory) Expire(_ context.Context, before time.Time) (n, bytes int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return 0, 0, m.broken
	}
	for aid := range m.boxes {
		dn, db := m.drop(aid, func(msg Message) bool { return m.at[msg.ID].Before(before) })
		n, bytes = n+dn, bytes+db
	}
	return n, bytes, nil
}

func (m *memory) Totals(context.Context) (t Totals, err error) {
	time.Sleep(m.slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts++
	for _, box := range m.boxes {
		for _, msg := range box {
			t.Messages, t.Bytes = t.Messages+1, t.Bytes+msg.Size
		}
		if len(box) > 0 {
			t.Mailboxes++
		}
	}
	return t, nil
}

func (m *memory) Seen(aid string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[aid] = at
}
