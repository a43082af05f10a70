package ledger

import (
	"context"
	"sync"
	"time"
)

// kept is what was read last of something that costs a walk over a table, and that
// anybody may ask for: it is shown for a hundred times as long as it took to read, so
// that all who ask together take up a hundredth of the time.
type kept[T any] struct {
	least time.Duration // it is shown at least

	mu    sync.Mutex
	read  bool
	until time.Time
	last  T
}

const keptTimes = 100

// get reads it anew where it is too old.
func (k *kept[T]) get(ctx context.Context, now func() time.Time, read func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	began := now()
	if k.read && began.Before(k.until) {
		return k.last, nil
	}
	v, err := read(ctx)
	if err == nil {
		k.last, k.read, k.until = v, true, began.Add(max(k.least, keptTimes*now().Sub(began)))
	}
	return v, err
}
