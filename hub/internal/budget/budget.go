// Package budget bounds the memory of one hub process that strangers can make
// it use: the bytes of request bodies and answers in flight.
//
// The one rule its users must know: take before the bytes are there, give back
// when the answer is written.
package budget

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// Budget is a number of bytes that all requests share.
type Budget struct {
	size int64
	used atomic.Int64
}

// New makes a budget of size bytes.
func New(size int64) *Budget { return &Budget{size: size} }

// Take reserves n bytes. It never waits: a request that waited for memory would
// hold some already. What is larger than the whole budget is let through when
// nothing else is in flight, since otherwise it would be refused for ever.
func (b *Budget) Take(n int64) (release func(), err error) {
	if used := b.used.Add(n); used > b.size && used != n {
		b.used.Add(-n)
		return nil, errs.New(errs.Unavailable, "hub_busy",
			"the hub is handling as many bytes as it can: try again in a moment").After(time.Second)
	}
	var once sync.Once
	return func() { once.Do(func() { b.used.Add(-n) }) }, nil
}

// Size is the number of bytes there are.
func (b *Budget) Size() int64 { return b.size }

// Used is the number of bytes in flight.
func (b *Budget) Used() int64 { return b.used.Load() }
