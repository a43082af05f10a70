package redeem

import (
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/anet-hub/anet/shared/errs"
)

// Orders that are on their way have room of their own, which is taken as they arrive:
// who announces much and sends little keeps nobody out, as it would with a place.
const (
	room      = 64 << 20 // bytes of all of them
	firstRoom = 4 << 10  // what one takes before any of it is there; a voucher fits in
)

// order is the body of a request.
type order struct {
	body []byte
	held int64
	room *semaphore.Weighted
}

func (o *order) read(src io.Reader) error {
	for {
		if len(o.body) == cap(o.body) {
			if err := o.grow(max(firstRoom, int64(2*cap(o.body)))); err != nil {
				return err
			}
		}
		n, err := src.Read(o.body[len(o.body):cap(o.body)])
		o.body = o.body[:len(o.body)+n]
		switch tooLarge := (*http.MaxBytesError)(nil); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &tooLarge):
			return errs.New(errs.TooLarge, "body_too_large", "an order has at most %d bytes", maxBody)
		case err != nil:
			return errMalformed()
		}
	}
}

// grow leaves the old bytes their room until the new ones have it: for a moment both
// are there.
func (o *order) grow(size int64) error {
	if !o.room.TryAcquire(size) {
		return errBusy()
	}
	o.body = append(make([]byte, 0, size), o.body...)
	o.room.Release(o.held)
	o.held = size
	return nil
}

func (o *order) release() { o.room.Release(o.held) }

func errBusy() error {
	return errs.New(errs.Unavailable, "busy", "too many are served at once; come back").After(time.Second)
}

func errMalformed() error {
	return errs.New(errs.Invalid, "order_malformed", "an order is one JSON object with voucher, capability and args")
}
