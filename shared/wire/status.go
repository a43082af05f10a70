package wire

import (
	"net/http"

	"github.com/anet-hub/anet/shared/errs"
)

// statuses pairs kinds with the statuses of the main API. It is the only such
// table: the hub reads it one way, a node the other. The faces of federation
// and payment have tables of their own (wire 2, sections J and K).
var statuses = []struct {
	kind   errs.Kind
	status int
}{
	{errs.Internal, http.StatusInternalServerError},
	{errs.Invalid, http.StatusBadRequest},
	{errs.Unauthorized, http.StatusUnauthorized},
	{errs.PaymentRequired, http.StatusPaymentRequired},
	{errs.Forbidden, http.StatusForbidden},
	{errs.NotFound, http.StatusNotFound},
	{errs.MethodNotAllowed, http.StatusMethodNotAllowed},
	{errs.Conflict, http.StatusConflict},
	{errs.TooLarge, http.StatusRequestEntityTooLarge},
	{errs.UpgradeRequired, http.StatusUpgradeRequired},
	{errs.TooMany, http.StatusTooManyRequests},
	{errs.BadGateway, http.StatusBadGateway},
	{errs.Unavailable, http.StatusServiceUnavailable},
	{errs.Full, http.StatusInsufficientStorage},
}

// StatusOf is the HTTP status of a kind.
func StatusOf(k errs.Kind) int {
	for _, s := range statuses {
		if s.kind == k {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// KindOf is the kind behind a status. One this table doesn't hold falls to
// Invalid below 500 and to Internal from there: a stranger's hub may have
// answers of its own.
func KindOf(status int) errs.Kind {
	for _, s := range statuses {
		if s.status == status {
			return s.kind
		}
	}
	if status >= 400 && status < 500 {
		return errs.Invalid
	}
	return errs.Internal
}
