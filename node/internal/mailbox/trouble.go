package mailbox

import (
	"log/slog"
	"sync"
	"time"
)

// Trouble tells the log of failures that come with every message and every pass
// over those that wait, as while a disk is full: that disk is where the log lies,
// too. One line says what is wrong; what repeats is counted, and the count goes
// into the next line about it.
type Trouble struct {
	mu   sync.Mutex
	told map[string]*told // by what went wrong
}

type told struct {
	at   time.Time
	more int
}

const (
	// troublePause is the time between two lines about one trouble.
	troublePause = 10 * time.Minute
	// maxTroubles bounds what is remembered: whose words differ each time would
	// otherwise fill the memory.
	maxTroubles = 32
)

// Tell says a failure, or counts it.
func (t *Trouble) Tell(log *slog.Logger, now time.Time, what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, more := t.told[err.Error()], 0
	if last != nil {
		if now.Sub(last.at).Abs() < troublePause {
			last.more++
			return
		}
		more = last.more
	}
	log.Error(what, "error", err, "more_before", more)
	if t.told == nil || len(t.told) >= maxTroubles {
		t.told = map[string]*told{}
	}
	t.told[err.Error()] = &told{at: now}
}
