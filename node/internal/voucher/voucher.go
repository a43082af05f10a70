// Package voucher is the buyer's side of a hub's gateway: it buys a call there, and
// brings the voucher to the seller (wire 2, section K.7).
//
// The one rule: what was signed or handed over is never made anew because an answer
// was lost. The same payment gives the same voucher, and the same voucher the same
// result, so both are brought again until somebody has said what became of them.
package voucher

import (
	"bytes"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// MaxText is what a voucher, or the answer of a gateway that holds one, has at most.
const MaxText = 64 << 10

// Voucher is a call that was bought. Whoever has it can have the call done.
type Voucher struct {
	payment.SignedVoucher
	Raw      []byte
	RedeemAt string // where the seller takes it, empty where that was not said
}

// Read takes a voucher in base64, or the JSON of a gateway's answer.
func Read(text []byte) (v Voucher, err error) {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("{")) {
		return readSold(text)
	}
	packed := bytes.Join(bytes.Fields(text), nil)
	if v.Raw, err = codec.DecodeB64(string(packed)); err != nil || len(v.Raw) == 0 {
		return v, malformed("it is neither base64 nor the JSON answer of a gateway")
	}
	return v, v.parse()
}

// readSold holds what goes with a voucher to what the hub signed.
func readSold(text []byte) (v Voucher, err error) {
	var sold wire.Sold
	if err := codec.UnmarshalObject(text, &sold); err != nil {
		return v, malformed("it cannot be read as the JSON answer of a gateway").Because(err)
	}
	if len(sold.Voucher) == 0 {
		return v, malformed(`the JSON has no member "voucher"`)
	}
	v.Raw, v.RedeemAt = sold.Voucher, sold.RedeemAt
	if err := v.parse(); err != nil {
		return v, err
	}
	if sold.Capability != "" && sold.Capability != v.Capability || sold.Provider != "" && sold.Provider != v.PayTo {
		return v, malformed("it is for another call than the JSON around it says")
	}
	return v, nil
}

func (v *Voucher) parse() (err error) {
	if v.SignedVoucher, err = payment.ParseVoucher(v.Raw); err != nil {
		return malformed("it cannot be read").Because(err)
	}
	if v.Capability == "" || !identity.ValidAID(v.PayTo) {
		return malformed("it names no capability, or nobody who sells it")
	}
	return nil
}

func malformed(why string) *errs.Error {
	return errs.New(errs.Invalid, "voucher_malformed", "this is no voucher: %s", why).In("voucher")
}

// Ends is when it is of no more use to who has not brought it.
func (v Voucher) Ends() time.Time { return time.UnixMilli(int64(min(v.NotAfter, maxMS))) }

const maxMS = 1 << 53

// Timely refuses one whose time is over, with the grace that sellers give.
func (v Voucher) Timely(now time.Time) error {
	if now.After(v.Ends().Add(payment.Skew)) {
		return errs.New(errs.Forbidden, "voucher_expired", "the voucher could be redeemed until %s", v.Ends().Local().Format(time.DateTime))
	}
	return nil
}

// Fits refuses arguments that it was not sold for.
func (v Voucher) Fits(args []byte) error {
	if v.ArgsCID != "" && v.ArgsCID != codec.CID(args) {
		return errs.New(errs.Forbidden, "voucher_args", "the voucher was sold for other arguments, byte for byte").In("args")
	}
	return nil
}

// Hub is the hub that sold it.
func (v Voucher) Hub() (string, error) {
	hub, ok := payment.HubOf(v.Network)
	if !ok || !identity.ValidAID(hub) {
		return "", malformed("it names no hub")
	}
	return hub, nil
}
