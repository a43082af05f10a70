package httpapi

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// discoveryPaths are where x402 clients look for what is sold: below the address of the
// facilitator they are given, and where the hub's own word for it is.
var discoveryPaths = []string{"/discovery/resources", "/x402/discovery/resources"}

// resources serves GET /discovery/resources: what is sold through the gateway, in
// the form that x402 clients look for it.
func (p *Payments) resources(w http.ResponseWriter, r *http.Request) error {
	key := p.api.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	q, err := query(r)
	if err != nil {
		return err
	}
	out := wire.Resources{X402Version: payment.X402Version, Items: []wire.SoldResource{}}
	if out.Pagination.Limit, err = limitOf(q, ledger.DefaultOffers, ledger.MaxOffers); err != nil {
		return err
	}
	if out.Pagination.Offset, err = offsetOf(q); err != nil {
		return err
	}
	if !sells(q, payment.Network(key.AID())) {
		return writeJSON(w, http.StatusOK, out)
	}
	release, err := p.api.Budget.Take(int64(out.Pagination.Limit) * ledger.LinkBytes)
	if err != nil {
		return err
	}
	defer release()
	page, total, err := p.Ledger.Offers(r.Context(), q.Get("payTo"), out.Pagination.Limit, out.Pagination.Offset)
	if err != nil {
		return err
	}
	for _, o := range page {
		item, err := p.sold(r, o)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, item)
	}
	out.Pagination.Total = total
	return writeJSON(w, http.StatusOK, out)
}

// sells reports whether anything of the hub's can be what is looked for: all of it is
// sold over HTTP, for credits of this hub, without extensions.
func sells(q url.Values, network string) bool {
	for name, only := range map[string]string{"type": "http", "scheme": payment.Scheme, "network": network, "extensions": ""} {
		if said := q.Get(name); said != "" && said != only {
			return false
		}
	}
	payTo := q.Get("payTo")
	return payTo == "" || identity.ValidAID(payTo)
}

func (p *Payments) sold(r *http.Request, o ledger.Listed) (wire.SoldResource, error) {
	option, err := p.Ledger.Quote(o)
	return wire.SoldResource{
		Resource: strings.TrimRight(p.api.homeHub(r), "/") + "/x402/resource/" + o.AID + "/" + url.PathEscape(o.Capability), Type: "http",
		X402Version: payment.X402Version, Accepts: []payment.Requirements{option}, LastUpdated: o.At.Unix(),
		Metadata: wire.ResourceMetadata{AID: o.AID, Capability: o.Capability},
	}, err
}

// maxOffset is how far a list is walked by numbers.
const maxOffset = 1_000_000

func offsetOf(q url.Values) (int, error) {
	if !q.Has("offset") {
		return 0, nil
	}
	n, err := strconv.Atoi(q.Get("offset"))
	if err != nil || n < 0 || n > maxOffset {
		return 0, errs.New(errs.Invalid, "offset_invalid", "offset is a number from 0 to %d", maxOffset).In("offset")
	}
	return n, nil
}
