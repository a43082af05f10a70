package voucher

import (
	"net/url"
	"strings"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// Deal is a call that a gateway sells. Seller and capability are empty where an
// address does not say them; a quote does.
type Deal struct {
	At         *url.URL
	Seller     string
	Capability string
}

// resource is what the path of a gateway begins with, below its hub's address.
const resource = "/x402/resource/"

// DealAt is a call at the gateway of a hub.
func DealAt(hub, seller, capID string) (Deal, error) {
	u, err := url.Parse(hub + resource + url.PathEscape(seller) + "/" + url.PathEscape(capID))
	return Deal{u, seller, capID}, err
}

// DealOf reads what the address of a gateway says.
func DealOf(at *url.URL) Deal {
	d := Deal{At: at}
	_, rest, ok := strings.Cut(at.EscapedPath(), resource)
	aid, capID, both := strings.Cut(rest, "/")
	if name, err := url.PathUnescape(capID); ok && both && err == nil && identity.ValidAID(aid) {
		d.Seller, d.Capability = aid, name
	}
	return d
}

// meets holds a quote to the call that was asked for: what it says and whom it pays
// is what is going to be signed.
func (d Deal) meets(q payment.PaymentRequired) (Deal, error) {
	if q.Resource == nil {
		return d, badQuote("it does not say what it is for")
	}
	name, ok := strings.CutPrefix(q.Resource.URL, "anet:capability/")
	i := strings.LastIndex(name, "@")
	if !ok || i < 1 || !identity.ValidAID(name[i+1:]) {
		return d, badQuote("it is for %.200q, and not for the call of an agent", q.Resource.URL)
	}
	capID, seller := name[:i], name[i+1:]
	if d.Seller != "" && (seller != d.Seller || capID != d.Capability) {
		return d, badQuote("it is for a call of %.100q of %s, and not for the one that was asked for", capID, seller)
	}
	for _, o := range q.Accepts {
		if o.Scheme == payment.Scheme && o.PayTo != seller {
			return d, badQuote("it asks to pay %.80q, and not the seller", o.PayTo)
		}
	}
	d.Seller, d.Capability = seller, capID
	return d, nil
}

func badQuote(format string, args ...any) *errs.Error {
	e := errs.New(errs.Forbidden, "quote_invalid", format, args...)
	e.Message = "the gateway's quote does not do: " + e.Message + "; nothing was signed"
	return e
}
