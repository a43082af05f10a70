package voucher

import (
	"net/http"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// Whatever is called a voucher is one, or refused with a reason.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"voucher":"oQ==","redeem_at":"https://shop.example"}`))
	f.Add([]byte("oQ=="))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Read(text)
		switch {
		case err != nil && !errs.Is(err, "voucher_malformed"):
			t.Errorf("%q: %v", text, err)
		case err == nil && (v.Capability == "" || len(v.Raw) == 0):
			t.Errorf("%q is a voucher for nothing", text)
		}
	})
}

// Whatever a seller answers is a result with a status, or a failure with a reason.
func FuzzAnswer(f *testing.F) {
	f.Add(http.StatusOK, []byte(`{"status":"OK","voucher_id":"bafy"}`))
	f.Add(http.StatusConflict, []byte(`{"code":"voucher_spent","result":{"status":"OK"}}`))
	f.Add(http.StatusBadGateway, []byte("<html>"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		r, err := Voucher{}.read(answer{status: status, header: http.Header{}, body: body})
		if err == nil && (r.Status == "" || codec.UnmarshalObject(r.Answer, &struct{}{}) != nil) {
			t.Errorf("%d %q: %+v", status, body, r)
		}
		if err != nil && errs.As(err).Reason == "" {
			t.Errorf("%d %q: %v", status, body, err)
		}
	})
}
