package hubclient

import (
	"cmp"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anet-hub/anet/node/internal/attempt"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/wire"
)

// Reasons of failures that are no answer of the hub. Unreachable and the three of
// its certificate certainly sent nothing; after ConnectionLost nobody knows what
// the hub did.
const (
	Unreachable    = "hub_unreachable"
	Untrusted      = "hub_certificate_untrusted" // of an authority this machine does not know
	WrongName      = "hub_certificate_name"      // of another host
	OutOfDate      = "hub_certificate_expired"   // ended, or not begun, by this machine's clock
	ConnectionLost = "hub_connection_lost"
	WireTooOld     = "hub_wire_too_old"
	WireTooNew     = "hub_wire_too_new"
)

func (c *Client) unreachable(err error, watch *attempt.Attempt) error {
	if watch.MayHaveArrived() {
		return errs.New(errs.Unavailable, ConnectionLost, "the connection to the hub %s broke off", c.base.Host).Because(err)
	}
	if reason, is := badCertificate(err); reason != "" {
		return errs.New(errs.Unavailable, reason, "the certificate of the hub %s %s", c.base.Host, is).Because(err)
	}
	return errs.New(errs.Unavailable, Unreachable, "the hub %s cannot be reached", c.base.Host).Because(err)
}

// badCertificate tells what is wrong with a certificate that was refused, since
// each fault is mended by somebody else. No reason where it was another failure.
func badCertificate(err error) (reason, is string) {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return Untrusted, "is of no authority that this machine trusts"
	case errors.As(err, new(x509.HostnameError)):
		return WrongName, "is another host's"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return OutOfDate, "has ended, or this machine's clock is wrong"
	}
	return "", ""
}

// failure is the error a hub answered with. The kind is read from the status,
// the reason from the code where the hub gives one.
func (c *Client) failure(a answer) error {
	var p wire.Problem
	if codec.UnmarshalJSON(a.body, &p) != nil {
		p = wire.Problem{}
	}
	switch {
	case a.status == http.StatusUpgradeRequired && p.Error != "":
		return errs.New(errs.UpgradeRequired, WireTooNew,
			"the hub %s requires wire %d and this program speaks %d; update anet", c.base.Host, p.RequiredWire, wire.Version)
	case a.status >= 300 && a.status < 400:
		return errs.New(errs.BadGateway, "hub_redirects",
			"the hub %s sends us on to %.200q; join it under its own URL", c.base.Host, a.header.Get("Location"))
	}
	kind := kindOf(p, a.status)
	e := errs.New(kind, cmp.Or(p.Code, "hub_"+kind.String()), "the hub answered %d: %s", a.status, sentence(p, a.status))
	e.Field = p.Field
	return e.After(c.retryAfter(a.header))
}

// kindOf is the kind behind a status. A message that meets 400, 404 or 413 is
// given up (L.7), and 426 ends polling (L.8), so all but 413 count in the hub's
// own words only: a proxy says them while the hub behind it is exchanged. What
// the table does not hold, such as 408, is a proxy's too, and passes.
func kindOf(p wire.Problem, status int) errs.Kind {
	kind := wire.KindOf(status)
	switch {
	case status == http.StatusBadRequest, status == http.StatusNotFound, status == http.StatusUpgradeRequired:
		if p.Error == "" {
			return errs.BadGateway
		}
	case kind == errs.Invalid:
		return errs.BadGateway
	}
	return kind
}

// sentence is the hub's own, with its hint, on one line and bounded: it ends up
// in terminals.
func sentence(p wire.Problem, status int) string {
	text := oneLine(p.Error)
	switch hint := oneLine(p.Hint); {
	case text == "":
		return http.StatusText(status)
	case hint != "":
		return text + "; " + hint
	}
	return text
}

func oneLine(s string) string {
	text := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) }), " ")
	return plain.Cut(text, maxSentence)
}

// maxSentence bounds, in bytes, what a hub can have shown.
const maxSentence = 400

// minRetry is the shortest wait worth obeying (L.7).
const minRetry = time.Second

// retryAfter is zero when the hub asks for no wait.
func (c *Client) retryAfter(h http.Header) time.Duration {
	if h.Get("Retry-After") == "" {
		return 0
	}
	return max(minRetry, attempt.RetryAfter(h, c.now()))
}

// CertainlyNotSent reports whether the failed call cannot have reached the hub.
func CertainlyNotSent(err error) bool {
	e := errs.As(err)
	return e != nil && slices.Contains([]string{Unreachable, Untrusted, WrongName, OutOfDate}, e.Reason)
}

// Temporary reports whether the same call may succeed later: the hub was not
// reached, busy, full or broken, rather than refusing what was asked.
func Temporary(err error) bool {
	var e *errs.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case errs.Internal, errs.TooMany, errs.BadGateway, errs.Unavailable, errs.Full:
		return true
	}
	return false
}

// checkWire refuses a hub of an older wire, or one that names none. Only a good
// answer is looked at: a proxy that fails in front of the hub knows no such
// header.
func (c *Client) checkWire(a answer) error {
	if spoken, said := wireOf(a); said && spoken >= wire.Version {
		return nil
	}
	return c.tooOld()
}

// keepsWire is the same for a hub whose wire is known. A good answer without a
// word on it is none of the hub's, but the notice of a proxy: to give up the hub
// for that would leave the node deaf until somebody starts it anew.
func (c *Client) keepsWire(a answer) error {
	spoken, said := wireOf(a)
	switch {
	case !said:
		return errs.New(errs.BadGateway, "hub_answer_invalid",
			"what answers in the place of the hub %s does not say which wire it speaks", c.base.Host)
	case spoken < wire.Version:
		return c.tooOld()
	}
	return nil
}

func wireOf(a answer) (spoken int, said bool) {
	spoken, err := strconv.Atoi(a.header.Get(wire.HeaderVersion))
	return spoken, err == nil
}

func (c *Client) tooOld() error {
	return errs.New(errs.UpgradeRequired, WireTooOld,
		"the hub %s speaks an older wire than %d, without encryption between nodes; this program will not use it", c.base.Host, wire.Version)
}
