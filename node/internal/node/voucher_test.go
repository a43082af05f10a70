//go:build !no_payments

package node

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// K.7: a voucher of the own hub buys the call it was sold for, once.
func TestVouchers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		edit   func(*payment.Voucher)
		args   string
		reason string
		kind   errs.Kind
		says   string
	}{
		{"as it was sold", nil, `{"a":1}`, "", 0, ""},
		{"without arguments", nil, ``, "", 0, ""},
		{"for other arguments", func(v *payment.Voucher) { v.ArgsCID = "bafy" }, `{"a":1}`, "voucher_invalid", errs.PaymentRequired, ""},
		{"for another agent", func(v *payment.Voucher) { v.PayTo = v.Payer }, `{}`, "voucher_invalid", errs.PaymentRequired, ""},
		{"for another capability", func(v *payment.Voucher) { v.Capability = "other" }, `{}`, "voucher_invalid", errs.PaymentRequired, ""},
		{"of another hub", func(v *payment.Voucher) { v.Network = "hub:other" }, `{}`, "voucher_invalid", errs.PaymentRequired, ""},
		{"too late", func(v *payment.Voucher) { v.NotAfter -= uint64((15 * time.Minute).Milliseconds()) }, `{}`, "voucher_invalid", errs.PaymentRequired, "is over"},
		{"long before", func(v *payment.Voucher) { v.NotAfter += uint64((15 * time.Minute).Milliseconds()) }, `{}`, "voucher_invalid", errs.PaymentRequired, "the clock"},
		{"from the beginning of time", func(v *payment.Voucher) { v.NotAfter = 1 }, `{}`, "voucher_invalid", errs.PaymentRequired, "is over"},
		{"arguments that are none", nil, `[1]`, "args_invalid", errs.Invalid, ""},
		{"too many arguments", nil, `{"a":"` + strings.Repeat("x", 5000) + `"}`, "args_too_large", errs.TooLarge, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, _ := w.shop(job)
				raw := w.hub.Ledger().Voucher(w.stranger().signer.AID(), shop.aid(), "job", tt.edit)
				got, err := shop.TakeVoucher(t.Context(), VoucherOrder{Voucher: raw, Capability: "job", Args: json.RawMessage(tt.args)})
				if err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%v, want it to say %q", err, tt.says)
				}
				switch {
				case tt.reason == "" && (err != nil || got.Status != effect.OK || got.VoucherID == "" || job.count() != 1):
					t.Errorf("%+v, %v, %d effects; want it done", got, err, job.count())
				case tt.reason != "" && (!errs.Is(err, tt.reason) || errs.KindOf(err) != tt.kind || job.count() != 0):
					t.Errorf("%v, %d effects; want %s", err, job.count(), tt.reason)
				}
			})
		})
	}
}

// The hub is asked for its key where a voucher names one that is not known yet, and
// only there. While it cannot be asked nobody knows whether the voucher is good.
func TestAVoucherByTheHubsNextKey(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, options := w.shop(&counter{})
		buyer, ledger := w.stranger().signer.AID(), w.hub.Ledger()
		bring := func(raw []byte) error {
			_, err := shop.TakeVoucher(t.Context(), VoucherOrder{Voucher: raw, Capability: "job"})
			return err
		}
		forged := ledger.Voucher(buyer, shop.aid(), "job", nil)
		forged[len(forged)-1] ^= 1
		shop.line.Break("kel")
		if err := bring(forged); !errs.Is(err, "voucher_invalid") {
			t.Errorf("a forged one: %v, want voucher_invalid without asking the hub", err)
		}
		ledger.Rotate()
		next := ledger.Voucher(buyer, shop.aid(), "job", nil)
		if err := bring(next); errs.KindOf(err) != errs.Unavailable {
			t.Errorf("while the hub cannot be asked: %v, want it unavailable", err)
		}
		w.end(shop)
		shop = w.start(shop.dir, options...)
		if err := bring(next); err != nil {
			t.Errorf("by the hub's next key: %v", err)
		}
	})
}

// D24: a voucher in many hands buys one call, and who comes again is told what came
// of it. What is refused before the work leaves the voucher good.
func TestAVoucherIsSpentOnce(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		limits := config.DefaultPublic("job")
		limits.PerCallerInflight = 16
		job.cap, job.price = "job", 5
		options := []option{serving(job), public(limits)}
		shop, buyer := w.node("shop", options...), w.stranger()
		order := VoucherOrder{Voucher: w.hub.Ledger().Voucher(buyer.signer.AID(), shop.aid(), "job", nil), Capability: "job"}

		w.must(shop.Lists.Put(buyer.signer.AID(), peers.Deny))
		if _, err := shop.TakeVoucher(t.Context(), order); !errs.Is(err, "denied") {
			t.Errorf("a denied payer: %v", err)
		}
		_, err := shop.Lists.Remove(buyer.signer.AID())
		w.must(err)

		var wg sync.WaitGroup
		answers := make([]error, 16)
		for i := range answers {
			wg.Go(func() { _, answers[i] = shop.TakeVoucher(t.Context(), order) })
		}
		wg.Wait()
		good := 0
		for _, err := range answers {
			switch {
			case err == nil:
				good++
			case !errs.Is(err, "voucher_spent") && !errs.Is(err, "voucher_in_use"):
				t.Errorf("one of many: %v", err)
			}
		}
		if good != 1 || job.count() != 1 {
			t.Errorf("%d were served and %d effects happened, want one of each", good, job.count())
		}
		w.end(shop)
		shop = w.start(shop.dir, options...)
		_, err = shop.TakeVoucher(t.Context(), order)
		if e := errs.As(err); e == nil || e.Reason != "voucher_spent" || !strings.Contains(string(e.Detail["result"].(json.RawMessage)), `"OK"`) {
			t.Errorf("after a restart: %v; want it spent, and what came of it", err)
		}
	})
}

// Who lost the answer brings the voucher again: while the call is at work it is told
// so, and later, also after the voucher's time, what came of it. An unspent one is
// of no use then.
func TestALostAnswerIsToldAgain(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job", price: 5, block: make(chan struct{})}
		limits := config.DefaultPublic("job")
		limits.PerCallerInflight = 2
		shop, buyer := w.node("shop", serving(job), public(limits)), w.stranger()
		order := func() VoucherOrder {
			return VoucherOrder{Voucher: w.hub.Ledger().Voucher(buyer.signer.AID(), shop.aid(), "job", nil), Capability: "job"}
		}
		brought, unspent := order(), order()
		var first sync.WaitGroup
		first.Go(func() {
			_, err := shop.TakeVoucher(t.Context(), brought)
			w.must(err)
		})
		synctest.Wait()
		_, err := shop.TakeVoucher(t.Context(), brought)
		if e := errs.As(err); e == nil || e.Reason != "voucher_in_use" || e.RetryAfter == 0 {
			t.Errorf("while it is at work: %v", err)
		}
		close(job.block)
		first.Wait()
		time.Sleep(time.Hour)
		_, err = shop.TakeVoucher(t.Context(), brought)
		if e := errs.As(err); e == nil || e.Reason != "voucher_spent" || !strings.Contains(string(e.Detail["result"].(json.RawMessage)), `"OK"`) {
			t.Errorf("an hour later: %v", err)
		}
		if _, err := shop.TakeVoucher(t.Context(), unspent); !errs.Is(err, "voucher_invalid") {
			t.Errorf("one that was never brought, an hour later: %v", err)
		}
		if job.count() != 1 {
			t.Errorf("%d effects of one voucher", job.count())
		}
	})
}

// A call that was certainly not attempted was paid all the same: its voucher stays good.
func TestAVoucherIsNotSpentForNothing(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{out: provider.Outcome{Status: effect.Unavailable, Reason: task.Unavailable, RetryAfter: 7 * time.Second}}
		shop, _ := w.shop(job)
		order := VoucherOrder{Voucher: w.hub.Ledger().Voucher(w.stranger().signer.AID(), shop.aid(), "job", nil), Capability: "job"}
		_, err := shop.TakeVoucher(t.Context(), order)
		if e := errs.As(err); e == nil || e.Kind != errs.Unavailable || e.Reason != "unavailable" || e.RetryAfter != 7*time.Second {
			t.Errorf("while its program is away: %v", err)
		}
		job.mu.Lock()
		job.out = provider.Outcome{}
		job.mu.Unlock()
		if got, err := shop.TakeVoucher(t.Context(), order); err != nil || got.Status != effect.OK {
			t.Errorf("afterwards: %+v, %v", got, err)
		}
		if _, err := shop.TakeVoucher(t.Context(), order); !errs.Is(err, "voucher_spent") {
			t.Errorf("once more: %v", err)
		}
	})
}

// One payment buys one call, whatever stands in its voucher: a hub that was restored
// may have given another one for it.
func TestAPaymentBuysOneCall(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		for i, want := range []string{"", "voucher_spent"} {
			raw := w.hub.Ledger().Voucher(w.stranger().signer.AID(), shop.aid(), "job", func(v *payment.Voucher) { v.AuthID = "one payment" })
			_, err := shop.TakeVoucher(t.Context(), VoucherOrder{Voucher: raw, Capability: "job"})
			if (err == nil) != (want == "") || err != nil && !errs.Is(err, want) {
				t.Errorf("voucher %d of one payment: %v, want %q", i+1, err, want)
			}
		}
		if job.count() != 1 {
			t.Errorf("%d effects of one payment", job.count())
		}
	})
}
