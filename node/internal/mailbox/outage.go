package mailbox

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// Backoff spaces attempts after failures. The delay is drawn anew over its
// whole width each time, at the cap too: nodes that lost their hub in the same
// moment drift apart and stay apart. The width triples, so that no crowd of
// early attempts stands out from the later ones.
type Backoff struct{ Base, Cap time.Duration }

// DefaultBackoff finds a hub that is back within some seconds, without a
// thousand nodes finding it in the same one.
var DefaultBackoff = Backoff{Base: time.Second, Cap: 15 * time.Second}

// minDelay keeps a lucky draw from being a second attempt at once.
const minDelay = 100 * time.Millisecond

// Delay is how long to wait after the n-th failure in a row, n from 1.
func (b Backoff) Delay(n int) time.Duration {
	width := b.Base
	for i := 1; i < n && width < b.Cap; i++ {
		width *= 3
	}
	return minDelay + rand.N(min(width, b.Cap))
}

// maxRetryAfter bounds what a hub may ask of a poller.
const maxRetryAfter = 5 * time.Minute

// failed notes a failure and says how long to wait.
func (m *Mailbox) failed(err error) time.Duration {
	m.mu.Lock()
	m.state.Failures++
	n := m.state.Failures
	m.state.Error = err.Error()
	m.mu.Unlock()
	if worthALine(n) {
		m.log.Warn("mailbox: the hub does not answer polls", "failures", n, "error", err)
	}
	if errs.KindOf(err) == errs.Unauthorized && m.events.Unknown != nil {
		m.events.Unknown()
	}
	delay := m.backoff.Delay(n)
	if e := errs.As(err); e != nil && e.RetryAfter > 0 {
		delay += min(e.RetryAfter, maxRetryAfter)
	}
	return delay
}

// worthALine thins the log out: 1, 4, 16, 64, … so that ten lines last for
// weeks.
func worthALine(failures int) bool {
	return bits.OnesCount(uint(failures)) == 1 && bits.TrailingZeros(uint(failures))%2 == 0
}

// succeeded notes an answer, and the end of an outage if there was one. After
// one the mailbox is read from its beginning: a hub that was restored from a
// backup may count from a lower id on.
func (m *Mailbox) succeeded() {
	m.mu.Lock()
	n, last := m.state.Failures, m.state.LastPoll
	m.state.Failures, m.state.Error, m.state.LastPoll = 0, "", time.Now()
	m.mu.Unlock()
	if n == 0 {
		return
	}
	m.after = 0
	away := "since the start"
	if !last.IsZero() {
		away = time.Since(last).Round(time.Second).String()
	}
	m.log.Info("mailbox: the hub is back", "after", away, "failures", n)
	if m.events.Back != nil {
		m.events.Back()
	}
}
