package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"github.com/anet-hub/anet/shared/errs"
)

// told says what became of a call in words of ours. What the other side wrote is
// not repeated, and an address that a redirect named is its word, too: an operator
// who could be made to read answers could be made to read those of a neighbour.
func told(ctx context.Context, err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	if e := errs.As(err); e != nil {
		return e
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return tooSlow()
	}
	return unreachable(err)
}

func unreachable(err error) error {
	e := errs.New(errs.BadGateway, "peer_unreachable", "the peer could not be reached: %s", whyNot(err))
	if timed := net.Error(nil); errors.As(err, &timed) && timed.Timeout() {
		return e.Because(context.DeadlineExceeded)
	}
	return e
}

func whyNot(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "its name leads nowhere"
	case errors.As(err, &name):
		return "its name could not be looked up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there"
	case errors.As(err, &certificate):
		return "its certificate does not hold"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS there"
	case dialing(err):
		return "no connection came about"
	}
	return "it hung up, or does not speak HTTP"
}

func dialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
