package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	maxOpenBody = 64 << 10 // routes without authentication
	firstRoom   = 64 << 10 // what a body may take before any of it is there
)

// readBody reads a whole body under the route's cap. release gives back what it
// took from the process's budget.
func (a *API) readBody(w http.ResponseWriter, r *http.Request, limit int64) (body []byte, release func(), err error) {
	return readBody(a.Budget, w, r, limit)
}

// readBody takes the room from some budget.
func readBody(b Budget, w http.ResponseWriter, r *http.Request, limit int64) (body []byte, release func(), err error) {
	if r.ContentLength > limit {
		return nil, nil, errTooLarge(limit)
	}
	in := incoming{
		src: http.MaxBytesReader(w, r.Body, limit), conn: http.NewResponseController(w), began: time.Now(),
		most: r.ContentLength, budget: b, release: func() {},
	}
	if in.most < 0 {
		in.most = limit
	}
	if err := in.read(); err != nil {
		in.release()
		return nil, nil, asBodyError(err, limit)
	}
	return in.body, in.release, nil
}

// incoming is a body on its way. Its room is taken from the budget in steps that
// double: whoever announces much and sends little, in the name of an agent that
// knows nothing of it, would hold the memory of everybody else.
type incoming struct {
	src     io.Reader
	conn    *http.ResponseController
	began   time.Time
	most    int64 // as announced, else the cap of the route
	budget  Budget
	body    []byte
	release func()
}

// read reads to the end. The deadline moves on with what has come, and is lifted
// at the end: it would end a long poll as well.
func (in *incoming) read() error {
	for {
		if len(in.body) == cap(in.body) {
			if err := in.grow(); err != nil {
				return err
			}
		}
		if err := in.conn.SetReadDeadline(in.began.Add(allowance(int64(len(in.body))))); err != nil {
			return err
		}
		n, err := in.src.Read(in.body[len(in.body):cap(in.body)])
		in.body = in.body[:len(in.body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return in.conn.SetReadDeadline(time.Time{})
		case err != nil:
			return err
		}
	}
}

// grow makes room for about twice as much, and one byte more than most, where
// the end is found.
func (in *incoming) grow() error {
	room := in.most + 1
	for half := (room + 1) / 2; half > int64(cap(in.body)) && half >= firstRoom; half = (half + 1) / 2 {
		room = half
	}
	release, err := in.budget.Take(room)
	if err != nil {
		return err
	}
	in.body = append(make([]byte, 0, room), in.body...)
	in.release()
	in.release = release
	return nil
}

func asBodyError(err error, limit int64) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge(limit)
	case errs.As(err) != nil:
		return err
	}
	return errs.New(errs.Invalid, "body_incomplete", "the body ended early or came too slowly").In("body").Because(err)
}

func errTooLarge(limit int64) error {
	return errs.New(errs.TooLarge, "body_too_large", "the body is larger than the %d bytes this route takes", limit).
		In("body").With("max_bytes", limit)
}
