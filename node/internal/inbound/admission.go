package inbound

import (
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/task"
)

// maxCounters bounds the callers counted at a time (L.2).
const maxCounters = 10_000

// busyRetry is the hint to a caller that only has to wait for a running call.
const busyRetry = time.Second

// Refusal is why a delegation is not taken, and when asking again may help.
type Refusal struct {
	Reason     task.Reason
	RetryAfter time.Duration // zero when it makes no sense
}

// Admission keeps the limits of the public capabilities (L.2). Its counts live
// in memory: a restart forgives.
type Admission struct {
	limits map[string]config.PublicCapability

	mu       sync.Mutex
	minute   *windows // per capability and caller
	day      *windows
	global   *windows // per capability
	inflight map[string]int
	byCaller map[string]int
}

// NewAdmission takes the configured capabilities.
func NewAdmission(public []config.PublicCapability) *Admission {
	a := &Admission{
		limits: map[string]config.PublicCapability{},
		minute: newWindows(time.Minute, maxCounters), day: newWindows(24*time.Hour, maxCounters),
		global:   newWindows(time.Minute, len(public)+1),
		inflight: map[string]int{}, byCaller: map[string]int{},
	}
	for _, p := range public {
		a.limits[p.ID] = p
	}
	return a
}

// Public reports whether the id as called is open to everybody.
func (a *Admission) Public(capID string) bool {
	_, ok := a.limits[capID]
	return ok
}

// Admit takes a call in, or says why not. A refused call uses nothing up, also
// where it is refused for what else is wrong with it, nil for nothing: the limits
// speak first. The caller must release an admitted one when it is over.
func (a *Admission) Admit(capID, caller string, argBytes int, now time.Time, wrong *Refusal) (release func(), refusal *Refusal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := callerKey(capID, caller)
	if r := a.refuse(capID, key, argBytes, now); r != nil {
		return nil, r
	}
	if wrong != nil {
		return nil, wrong
	}
	a.minute.add(key, now)
	a.day.add(key, now)
	a.global.add(capID, now)
	a.inflight[capID]++
	a.byCaller[key]++
	return sync.OnceFunc(func() { a.release(capID, key) }), nil
}

// refuse goes through the limits in their order.
func (a *Admission) refuse(capID, key string, argBytes int, now time.Time) *Refusal {
	limit, public := a.limits[capID]
	switch {
	case !public:
		return &Refusal{Reason: task.CapabilityNotPublic}
	case argBytes > limit.MaxArgsBytes:
		return &Refusal{Reason: task.ArgsTooLarge}
	case a.inflight[capID] >= limit.MaxInflight, a.byCaller[key] >= limit.PerCallerInflight:
		return &Refusal{Reason: task.MaxInflight, RetryAfter: busyRetry}
	case a.minute.count(key, now) >= limit.PerCallerPerMin:
		return &Refusal{Reason: task.QuotaCallerMinute, RetryAfter: a.minute.left(now)}
	case a.day.count(key, now) >= limit.PerCallerPerDay:
		return &Refusal{Reason: task.QuotaCallerDay, RetryAfter: a.day.left(now)}
	case a.global.count(capID, now) >= limit.GlobalPerMin:
		return &Refusal{Reason: task.QuotaGlobalMinute, RetryAfter: a.global.left(now)}
	}
	return nil
}

func (a *Admission) release(capID, key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	decrease(a.inflight, capID)
	decrease(a.byCaller, key)
}

func decrease(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}

// callerKey cannot be confused: an AID holds no zero byte.
func callerKey(capID, caller string) string { return caller + "\x00" + capID }
