package inbound

import (
	"container/list"
	"time"
)

// windows counts by key in fixed windows aligned to the epoch: all counts of a
// window end together, at a moment that can be told to whoever was refused.
// Beyond max keys the one counted longest ago is forgotten.
type windows struct {
	length time.Duration
	max    int
	order  *list.List // of *counter, the latest counted in front
	byKey  map[string]*list.Element
}

type counter struct {
	key    string
	window int64
	n      int
}

func newWindows(length time.Duration, max int) *windows {
	return &windows{length: length, max: max, order: list.New(), byKey: map[string]*list.Element{}}
}

func (w *windows) index(now time.Time) int64 { return now.UnixMilli() / w.length.Milliseconds() }

// left is the time to the end of the window.
func (w *windows) left(now time.Time) time.Duration {
	return w.length - time.Duration(now.UnixMilli()%w.length.Milliseconds())*time.Millisecond
}

// count is what the key has used of the present window.
func (w *windows) count(key string, now time.Time) int {
	e := w.byKey[key]
	if e == nil {
		return 0
	}
	if c := e.Value.(*counter); c.window == w.index(now) {
		return c.n
	}
	return 0
}

// add uses one.
func (w *windows) add(key string, now time.Time) {
	e := w.byKey[key]
	if e == nil {
		e = w.order.PushFront(&counter{key: key})
		w.byKey[key] = e
	}
	w.order.MoveToFront(e)
	c := e.Value.(*counter)
	if i := w.index(now); c.window != i {
		c.window, c.n = i, 0
	}
	c.n++
	if w.order.Len() > w.max {
		oldest := w.order.Remove(w.order.Back()).(*counter)
		delete(w.byKey, oldest.key)
	}
}
