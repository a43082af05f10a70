package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	maxOpenBody = 64 << 10         // routes without authentication
	bodyGrace   = 20 * time.Second // for a body of any size
	bodyRate    = 32 << 10         // bytes a second a longer body must keep up
)

// readBody reads a whole body under the route's cap. The bytes are taken from
// the process's budget before they are read, and the reader has a deadline: a
// body that drips holds neither memory nor a connection for long. The
// deadline is lifted afterwards, since it would end a long poll as well.
func (a *API) readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, func(), error) {
	if r.ContentLength > limit {
		return nil, nil, errTooLarge(limit)
	}
	size := r.ContentLength
	if size < 0 {
		size = limit
	}
	release, err := a.Budget.Take(size)
	if err != nil {
		return nil, nil, err
	}
	body, err := a.drain(w, r, size, limit)
	if err != nil {
		release()
		return nil, nil, err
	}
	return body, release, nil
}

func (a *API) drain(w http.ResponseWriter, r *http.Request, size, limit int64) ([]byte, error) {
	rc := http.NewResponseController(w)
	if err := rc.SetReadDeadline(time.Now().Add(bodyGrace + time.Duration(size/bodyRate)*time.Second)); err != nil {
		return nil, err
	}
	src := http.MaxBytesReader(w, r.Body, limit)
	body, err := readSized(src, r.ContentLength)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLarge(limit)
	case err != nil:
		return nil, errs.New(errs.Invalid, "body_incomplete", "the body ended early or came too slowly").In("body").Because(err)
	}
	return body, rc.SetReadDeadline(time.Time{})
}

// readSized reads a body whose length was announced into one slice of that
// length: io.ReadAll would hold twice as much while it grows.
func readSized(r io.Reader, announced int64) ([]byte, error) {
	if announced < 0 {
		return io.ReadAll(r)
	}
	body := make([]byte, announced)
	_, err := io.ReadFull(r, body)
	return body, err
}

func errTooLarge(limit int64) error {
	return errs.New(errs.TooLarge, "body_too_large", "the body is larger than the %d bytes this route takes", limit).
		In("body").With("max_bytes", limit)
}
