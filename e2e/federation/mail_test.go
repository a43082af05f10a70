package federation

import (
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/rounds"
	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/wire"
)

// mail is a stream of messages from an agent of one hub to one of another. Each
// is offered, in the same bytes, until the first hub says that it was taken: what
// a node's outbox does.
type mail struct {
	from, to *stage.Agent

	sending  rounds.Flow
	accepted []string // content ids
	refused  []string // answers that end a message for good
	total    int
	again    int
}

func newMail(t *testing.T, a, b *stage.Hub) *mail {
	t.Helper()
	m := &mail{from: stage.NewAgent(t, a), to: stage.NewAgent(t, b)}
	m.from.HTTP.Timeout, m.to.HTTP.Timeout = stage.Stall, stage.Stall
	m.from.Register()
	m.to.Register()
	return m
}

// Begin sends one message after the other until End.
func (m *mail) Begin(*testing.T) {
	m.accepted, m.refused = nil, nil
	m.sending.Start(5*time.Millisecond, func() { m.deliver(stage.Sealed(m.to.AID(), 500)) })
}

// deliver offers one message until it was taken, or was refused for good.
func (m *mail) deliver(env []byte) {
	for tries, start := 1, time.Now(); ; tries++ {
		answer, err := m.from.Try(wire.ActionSend, "/relay/send", wire.Send{ToAID: m.to.AID(), Envelope: env})
		switch {
		case err == nil && answer.Status == 200:
			m.accepted = append(m.accepted, codec.RawCID(env))
			if tries > 1 {
				m.again++
			}
			return
		case err == nil && answer.Status < 500 && answer.Status != 429 && answer.Status != 401:
			m.refused = append(m.refused, answer.String())
			return
		}
		if time.Since(start) > 2*rounds.Limit {
			m.refused = append(m.refused, "nothing but "+answer.String())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// End waits for the message that is under way.
func (m *mail) End(t *testing.T) {
	t.Helper()
	m.sending.Stop()
	m.total += len(m.accepted)
	if len(m.refused) > 0 {
		t.Errorf("messages were refused for good: %q", m.refused)
	}
}

// Check empties the mailbox: all that was accepted is there, once, in the order
// it was sent in, and nothing else.
func (m *mail) Check(t *testing.T) {
	t.Helper()
	var found []string
	for page := m.poll(t); len(page) > 0; page = m.poll(t) {
		found = append(found, page...)
	}
	if !slices.Equal(found, m.accepted) {
		t.Errorf("%d messages were accepted, and %d came: %v and %v", len(m.accepted), len(found), m.accepted, found)
	}
}

// poll takes a page out of the mailbox.
func (m *mail) poll(t *testing.T) (cids []string) {
	t.Helper()
	var ids []int64
	for _, msg := range m.to.Poll(wire.Poll{Limit: 500}).Messages {
		ids, cids = append(ids, msg.ID), append(cids, codec.RawCID(msg.Envelope))
	}
	if len(ids) > 0 {
		m.to.Ack(ids...)
	}
	return cids
}
