package home

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/provider/service"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

func TestNetworksOf(t *testing.T) {
	kind := func(network string) payment.Kind {
		return payment.Kind{X402Version: 2, Scheme: "anet-credit", Network: network}
	}
	for _, tt := range []struct {
		name  string
		kinds []payment.Kind
		want  []string
	}{
		{"no ledger", nil, nil},
		{"its own", []payment.Kind{kind("hub:h")}, []string{"hub:h"}},
		{"its own first", []payment.Kind{kind("hub:p"), kind("hub:h"), kind("hub:p")}, []string{"hub:h", "hub:p"}},
		{"others' alone", []payment.Kind{kind("hub:p")}, nil},
		{"another scheme", []payment.Kind{{X402Version: 2, Scheme: "exact", Network: "hub:h"}}, nil},
		{"another version", []payment.Kind{{X402Version: 1, Scheme: "anet-credit", Network: "hub:h"}}, nil},
	} {
		if got := NetworksOf(payment.Supported{Kinds: tt.kinds}, "h"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// What has a price is listed where the hub keeps a ledger, and leaves the list with
// it. A hub that cannot be asked changes nothing.
func TestPricedCapabilitiesAreListedWhereTheyCanBePaid(t *testing.T) {
	const file = `{"inbound":{"public_capabilities":[{"id":"sold"}]},"modules":{"service":{"capabilities":[{"id":"sold","url":"unix:///nowhere/s","price":3}]}}}`
	settle(t, file, func(t *testing.T, h *Home, hub *hub) {
		p, err := service.New(h.Config.Modules.Service)
		if err == nil {
			err = h.Registry.Register(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		listed := func(when, want string) {
			t.Helper()
			h.Poke()
			synctest.Wait()
			got := ""
			for _, id := range hub.body(hub.count() - 1).Caps {
				got += id
			}
			if got != want {
				t.Errorf("%s: %q is listed, want %q", when, got, want)
			}
		}
		listed("without a ledger", "")
		hub.set(func() {
			hub.supports.Kinds = []payment.Kind{{X402Version: 2, Scheme: payment.Scheme, Network: payment.Network("hub")}}
		})
		listed("with one", "sold")
		hub.set(func() { hub.supports.Kinds = nil })
		listed("without it again", "")
	})
}

func TestLimitsAreWrittenDown(t *testing.T) {
	settle(t, `{"name":"n"}`, func(t *testing.T, h *Home, _ *hub) {
		n, off := uint64(25), false
		l, err := h.SetLimits(t.Context(), node.LimitChange{ExplicitMax: &n, PayeeList: &off})
		if err != nil || l.ExplicitMax != 25 || l.DailyMax != 50 || l.PayeeList || h.LimitsNow().ExplicitMax != 25 {
			t.Errorf("%+v, %v", l, err)
		}
		aid := h.Keys.AID()
		if l, err = h.SetPayee(t.Context(), aid, true); err != nil || !slices.Equal(l.Payees, []string{aid}) {
			t.Errorf("%+v, %v", l, err)
		}
		if l, err = h.SetPayee(t.Context(), aid, true); err != nil || len(l.Payees) != 1 {
			t.Errorf("twice: %+v, %v", l, err)
		}
		c, err := config.Load(h.Dir)
		if err != nil || c.Payments.ExplicitMax != 25 || c.Payments.PayeeList || !slices.Equal(c.Payments.Payees, []string{aid}) || c.Name != "n" {
			t.Errorf("the file holds %+v, %v", c, err)
		}
		if _, err := h.SetPayee(t.Context(), aid, false); err != nil {
			t.Error(err)
		}
		if _, err := h.SetPayee(t.Context(), aid, false); !errs.Is(err, "payee_unknown") {
			t.Errorf("once more: %v", err)
		}
		huge := uint64(1) << 63
		if _, err := h.SetLimits(t.Context(), node.LimitChange{AutoMax: &huge}); !errs.Is(err, "limit_invalid") {
			t.Errorf("beyond all: %v", err)
		}
	})
}
