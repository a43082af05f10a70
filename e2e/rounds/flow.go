package rounds

import (
	"sync"
	"time"
)

// Flow does one thing again and again, until it is stopped.
type Flow struct {
	quit  chan struct{}
	doing sync.WaitGroup
}

// Start starts it, with a pause before each time.
func (f *Flow) Start(pause time.Duration, do func()) {
	f.quit = make(chan struct{})
	f.doing.Go(func() {
		for {
			select {
			case <-f.quit:
				return
			case <-time.After(pause):
				do()
			}
		}
	})
}

// Stop waits for what is under way.
func (f *Flow) Stop() {
	close(f.quit)
	f.doing.Wait()
}
