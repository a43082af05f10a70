package payment

import (
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

// Authorization lets the ledger named by Network move Amount once.
type Authorization struct {
	Payer       string `cbor:"1,keyasint"`
	PayTo       string `cbor:"2,keyasint"`
	Amount      uint64 `cbor:"3,keyasint"`
	Network     string `cbor:"4,keyasint"`
	Nonce       string `cbor:"5,keyasint"`
	IssuedAt    uint64 `cbor:"6,keyasint"` // ms
	NotAfter    uint64 `cbor:"7,keyasint"` // ms
	Interaction string `cbor:"8,keyasint,omitempty"`
}

// Check holds the authorization to what it must say by itself.
func (a Authorization) Check() error {
	if err := CheckAmount(a.Amount); err != nil {
		return err
	}
	if a.IssuedAt == 0 || a.NotAfter <= a.IssuedAt {
		return refuse(ExpiredPayment, "an authorization ends after it was issued")
	}
	return nil
}

// Issued dates an authorization: it holds for Window from then on.
func (a Authorization) Issued(at time.Time) Authorization {
	a.IssuedAt, a.NotAfter = uint64(at.UnixMilli()), uint64(at.Add(Window).UnixMilli())
	return a
}

// SignedAuthorization is an authorization as it travels. Its ID is what x402
// calls the transaction.
type SignedAuthorization struct {
	Authorization
	identity.Signed
}

// SignAuthorization signs as the payer.
func SignAuthorization(c *identity.Controller, a Authorization) (wire []byte, id string, err error) {
	if err := a.Check(); err != nil {
		return nil, "", err
	}
	if a.Payer != c.AID() {
		return nil, "", refuse(UnknownPayer, "only the payer signs an authorization")
	}
	return identity.SignObject(c, a)
}

// ParseAuthorization reads an authorization; it is not verified yet.
func ParseAuthorization(wire []byte) (a SignedAuthorization, err error) {
	a.Signed, err = identity.ParseSignedAs(wire, &a.Authorization)
	return a, malformed(err, "authorization")
}

// Verify checks that the payer signed it when it was issued.
func (a SignedAuthorization) Verify(payer *identity.History) error {
	return verify(a.Signed, a.Payer, payer, a.IssuedAt)
}

// Genuine checks that the payer signed it, whatever became of its keys since. Of what
// was settled nothing else can be asked: a payer dates its own rotations, and may date
// one to before a payment that it has made.
func (a SignedAuthorization) Genuine(payer *identity.History) error {
	return verify(a.Signed, a.Payer, payer, 0)
}

// Receipt is the ledger's word that it moved an authorization.
type Receipt struct {
	AuthID   string `cbor:"1,keyasint"`
	Payer    string `cbor:"2,keyasint"`
	PayTo    string `cbor:"3,keyasint"`
	Amount   uint64 `cbor:"4,keyasint"`
	Network  string `cbor:"5,keyasint"`
	SettleAt uint64 `cbor:"6,keyasint"` // ms
}

// SignedReceipt is a receipt as it travels.
type SignedReceipt struct {
	Receipt
	identity.Signed
}

// SignReceipt signs as the ledger.
func SignReceipt(hub *identity.Controller, r Receipt) (wire []byte, id string, err error) {
	if err := CheckAmount(r.Amount); err != nil {
		return nil, "", err
	}
	return identity.SignObject(hub, r)
}

// ParseReceipt reads a receipt; it is not verified yet.
func ParseReceipt(wire []byte) (r SignedReceipt, err error) {
	r.Signed, err = identity.ParseSignedAs(wire, &r.Receipt)
	return r, malformed(err, "receipt")
}

// Verify checks the signature of the hub the network names, whoever delivered
// the receipt. One that names no time could be by a key that was retired at any.
func (r SignedReceipt) Verify(hub *identity.History) error {
	if err := CheckAmount(r.Amount); err != nil {
		return err
	}
	if r.SettleAt == 0 {
		return refuse(InvalidSignature, "the receipt does not say when it was signed")
	}
	return verifyHub(r.Signed, r.Network, hub, r.SettleAt)
}

// Genuine checks the signature alone, whatever became of the hub's keys since.
func (r SignedReceipt) Genuine(hub *identity.History) error {
	return verifyHub(r.Signed, r.Network, hub, 0)
}

// Settles reports whether the receipt is for this very authorization. A payer
// shows a task as paid only then.
func (r Receipt) Settles(a SignedAuthorization) bool {
	return r.AuthID == a.ID() && r.Payer == a.Payer && r.PayTo == a.PayTo &&
		r.Amount == a.Amount && r.Network == a.Network
}

// VoucherWindow is how long a voucher can be redeemed.
const VoucherWindow = 10 * time.Minute

// Voucher is what a hub sells: one call of a capability, to be redeemed at
// the seller's.
type Voucher struct {
	AuthID     string `cbor:"1,keyasint"`
	Payer      string `cbor:"2,keyasint"`
	PayTo      string `cbor:"3,keyasint"`
	Capability string `cbor:"4,keyasint"`
	Amount     uint64 `cbor:"5,keyasint"`
	Network    string `cbor:"6,keyasint"`
	NotAfter   uint64 `cbor:"7,keyasint"` // ms
	Nonce      string `cbor:"8,keyasint"` // 32 hex characters
	ArgsCID    string `cbor:"9,keyasint,omitempty"`
}

// SignedVoucher is a voucher as it travels.
type SignedVoucher struct {
	Voucher
	identity.Signed
}

// SignVoucher signs as the selling hub.
func SignVoucher(hub *identity.Controller, v Voucher) (wire []byte, id string, err error) {
	if err := CheckAmount(v.Amount); err != nil {
		return nil, "", err
	}
	return identity.SignObject(hub, v)
}

// ParseVoucher reads a voucher; it is not verified yet.
func ParseVoucher(wire []byte) (v SignedVoucher, err error) {
	v.Signed, err = identity.ParseSignedAs(wire, &v.Voucher)
	return v, malformed(err, "voucher")
}

// Verify checks the signature of the hub the network names. A voucher does not
// say when it was signed; it is taken as signed one window before its end, so
// that a key retired longer ago than that makes no vouchers.
func (v SignedVoucher) Verify(hub *identity.History) error {
	if err := CheckAmount(v.Amount); err != nil {
		return err
	}
	const window = uint64(VoucherWindow / time.Millisecond)
	return verifyHub(v.Signed, v.Network, hub, max(v.NotAfter, window+1)-window)
}

func verifyHub(s identity.Signed, network string, h *identity.History, at uint64) error {
	hub, ok := HubOf(network)
	if !ok {
		return refuse(NetworkMismatch, "%.80q names no hub", network)
	}
	return verify(s, hub, h, at)
}

func verify(s identity.Signed, signer string, h *identity.History, at uint64) error {
	if s.Env.Signer != signer {
		return refuse(InvalidSignature, "signed by another agent than it names")
	}
	if err := s.Verify(h, at); err != nil {
		return refuse(InvalidSignature, "the signature does not verify").Because(err)
	}
	return nil
}

// malformed keeps a nil error nil.
func malformed(err error, what string) error {
	if err == nil {
		return nil
	}
	return refuse(MalformedPayment, "the %s cannot be read", what).Because(err)
}
