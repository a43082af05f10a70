package kill

import (
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/rounds"
	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// mail is a stream of messages nobody reads during a round. The hub's word for
// each that it accepted is all its sender keeps.
type mail struct {
	from, to *stage.Agent

	sending  rounds.Flow
	accepted []int64
	tried    int
	total    int
}

func newMail(t *testing.T, hub *stage.Hub) *mail {
	t.Helper()
	m := &mail{from: stage.NewAgent(t, hub), to: stage.NewAgent(t, hub)}
	m.from.HTTP.Timeout, m.to.HTTP.Timeout = stage.Stall, stage.Stall
	m.from.Register()
	m.to.Register()
	return m
}

// Begin sends one message after the other until End.
func (m *mail) Begin(*testing.T) {
	m.accepted, m.tried = nil, 0
	m.sending.Start(2*time.Millisecond, m.send)
}

func (m *mail) send() {
	body := wire.Send{ToAID: m.to.AID(), Envelope: stage.Sealed(m.to.AID(), 500)}
	m.tried++
	answer, err := m.from.Try(wire.ActionSend, "/relay/send", body)
	if err != nil || answer.Status != 200 {
		return
	}
	var sent wire.Sent
	if answer.Read(&sent) == nil {
		m.accepted = append(m.accepted, sent.ID)
	}
}

// End waits for the message that is under way.
func (m *mail) End(*testing.T) {
	m.sending.Stop()
	m.total += len(m.accepted)
}

// Check empties the mailbox: all that was accepted is there, in the order it
// was accepted in, and no more than was sent.
func (m *mail) Check(t *testing.T) {
	t.Helper()
	var found []int64
	for page := m.poll(t, 0); len(page) > 0; page = m.poll(t, found[len(found)-1]) {
		found = append(found, page...)
	}
	if !slices.IsSorted(m.accepted) || !slices.IsSorted(found) || len(slices.Compact(slices.Clone(found))) != len(found) {
		t.Errorf("ids do not grow: accepted %v, found %v", m.accepted, found)
	}
	for _, id := range m.accepted {
		if _, there := slices.BinarySearch(found, id); !there {
			t.Errorf("message %d was accepted and is lost", id)
		}
	}
	if len(found) > m.tried {
		t.Errorf("%d messages of %d that were sent", len(found), m.tried)
	}
	if len(found) > 0 && m.to.Ack(found...) != int64(len(found)) {
		t.Errorf("not all of %d messages could be acknowledged", len(found))
	}
	if left := m.poll(t, 0); len(left) > 0 {
		t.Errorf("%d messages came back after they were acknowledged", len(left))
	}
}

func (m *mail) poll(t *testing.T, after int64) (ids []int64) {
	t.Helper()
	for _, msg := range m.to.Poll(wire.Poll{AfterID: after, Limit: 500}).Messages {
		ids = append(ids, msg.ID)
	}
	return ids
}
