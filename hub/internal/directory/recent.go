package directory

import (
	"crypto/sha256"
	"sync"
)

// Recent is what a process remembers of an agent's last registration: the body,
// and the SHA-256 of the key history that came in it.
type Recent struct {
	Body  BodyHash
	Under [sha256.Size]byte
}

// maxRecent bounds one generation of recents: some 13 MiB.
const maxRecent = 1 << 16

// recents remembers registrations in two generations. When the young one is full
// it becomes the old one, whose agents are forgotten unless they were asked for
// meanwhile.
type recents struct {
	mu         sync.Mutex
	young, old map[string]Recent
}

func (m *recents) find(aid string) (Recent, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.young[aid]; ok {
		return r, true
	}
	r, ok := m.old[aid]
	if ok {
		m.keep(aid, r)
	}
	return r, ok
}

func (m *recents) note(aid string, r Recent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(aid, r)
}

func (m *recents) keep(aid string, r Recent) {
	if m.young == nil || len(m.young) >= maxRecent {
		m.young, m.old = map[string]Recent{}, m.young
	}
	m.young[aid] = r
}

func (m *recents) forget(aid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.young, aid)
	delete(m.old, aid)
}
