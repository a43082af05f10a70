package journal

import "sync"

// broadcast wakes everyone who waits, once.
type broadcast struct {
	mu sync.Mutex
	c  chan struct{}
}

func (b *broadcast) init() { b.c = make(chan struct{}) }

func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.c
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.c)
	b.c = make(chan struct{})
}
