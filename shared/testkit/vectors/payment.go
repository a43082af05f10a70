package vectors

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/payment"
)

type paymentVector struct {
	Remarks
	Name     string `json:"name"`
	Preimage Hex    `json:"preimage_hex"`
	ID       string `json:"id,omitzero"`
	CID      string `json:"cid,omitzero"`
	Wire     Hex    `json:"wire_hex,omitzero"`
	WireCID  string `json:"wire_cid,omitzero"`
	AuthID   string `json:"auth_id,omitzero"`
	VerifyAt uint64 `json:"verify_at,omitzero"`
}

// paymentObjects pins authorizations and receipts, section K.1.
func paymentObjects(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string          `json:"name"`
		Vectors []paymentVector `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, v.check})
	}
	return vs, err
}

func (v paymentVector) check() error {
	switch {
	case v.Wire != nil:
		return v.authorizationWire()
	case v.WireCID != "" || v.AuthID != "" || v.VerifyAt != 0:
		return unread("beside a preimage", true)
	case strings.HasPrefix(v.Name, "VEC-PAYMENT-AUTH"):
		return all(reencodes[payment.Authorization](v.Preimage, v.ID), unread("of a receipt", v.CID != ""))
	case strings.HasPrefix(v.Name, "VEC-PAYMENT-RECEIPT"):
		return all(reencodes[payment.Receipt](v.Preimage, v.CID), unread("of an authorization", v.ID != ""))
	default:
		return fmt.Errorf("%q names no kind of object", v.Name)
	}
}

func (v paymentVector) authorizationWire() error {
	suite, err := Suite()
	if err != nil {
		return err
	}
	a, err := payment.ParseAuthorization(v.Wire)
	if err != nil {
		return err
	}
	return all(
		bySuite[payment.Authorization](v.Wire, v.Preimage, v.AuthID, a.IssuedAt),
		a.Check(), a.Verify(suite.History()),
		same("in its window", payment.InWindow(a.IssuedAt, a.NotAfter, v.VerifyAt), true),
		same("CID as it travels", codec.CID(v.Wire), v.WireCID),
		unread("beside an object as it travels", v.ID != "", v.CID != ""),
	)
}

// vouchers pins what a hub sells, section K.1.
func vouchers(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string `json:"name"`
		Vectors []struct {
			Remarks
			Name     string `json:"name"`
			Preimage Hex    `json:"preimage_hex"`
			CID      string `json:"cid"`
		} `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, func() error {
			return reencodes[payment.Voucher](v.Preimage, v.CID)
		}})
	}
	return vs, err
}

// paymentWindow pins step 8 of section K.3.
func paymentWindow(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name     string `json:"name"`
		IssuedAt uint64 `json:"issued_at"`
		NotAfter uint64 `json:"not_after"`
		Skew     int64  `json:"skew_ms"`
		Cases    []struct {
			Remarks
			Now uint64 `json:"now"`
			OK  bool   `json:"ok"`
		} `json:"cases"`
		Overflow []struct {
			Remarks
			IssuedAt uint64 `json:"issued_at"`
			NotAfter string `json:"not_after"`
			Now      uint64 `json:"now"`
			OK       bool   `json:"ok"`
		} `json:"overflow,omitzero"`
	}
	err := decode(data, &f)
	vs := []Vector{{"skew", func() error { return same("skew", payment.Skew.Milliseconds(), f.Skew) }}}
	for _, c := range f.Cases {
		vs = append(vs, Vector{fmt.Sprintf("at %d", c.Now), func() error {
			return same("in the window", payment.InWindow(f.IssuedAt, f.NotAfter, c.Now), c.OK)
		}})
	}
	for _, c := range f.Overflow {
		vs = append(vs, Vector{"until " + c.NotAfter, func() error {
			notAfter, err := strconv.ParseUint(c.NotAfter, 10, 64)
			return all(err, same("in the window", payment.InWindow(c.IssuedAt, notAfter, c.Now), c.OK))
		}})
	}
	return vs, err
}

// payBind pins the binding of a payment to a task, section K.6.
func payBind(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string `json:"name"`
		Vectors []struct {
			Remarks
			Interaction string `json:"interaction_id"`
			Nonce       string `json:"task_nonce"`
			Bind        string `json:"pay_bind"`
		} `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{"nonce " + strconv.Quote(v.Nonce), func() error {
			return same("binding", payment.Binding(v.Interaction, v.Nonce), v.Bind)
		}})
	}
	return vs, err
}
