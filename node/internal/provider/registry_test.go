package provider

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
)

// named is a provider that does nothing but have ids.
type named struct {
	id   string
	caps []string
}

func (n named) ID() string                           { return n.id }
func (n named) Capabilities() []string               { return n.caps }
func (n named) Describe(capID string) card.Skill     { return card.Skill{ID: capID} }
func (n named) Invoke(context.Context, Call) Outcome { return Outcome{Status: effect.OK} }
func (n named) Health(context.Context) error         { return nil }

// slow also charges and takes its time.
type slow struct{ named }

func (slow) Price(capID string) (uint64, bool) { return 5, capID == "a" }
func (slow) Limit(capID string) time.Duration  { return time.Hour }

func TestResolveWalksUpAlongTheDots(t *testing.T) {
	var r Registry
	for _, p := range []named{
		{"lamps", []string{"light"}}, {"exact", []string{"light.onoff.fade"}},
		{"shell", []string{"shell", "shell.run@uptime"}}, {"cameras", []string{"ptz.absolute@onvif/camera-006"}},
	} {
		if err := r.Register(p); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ called, want string }{
		{"light", "lamps"},
		{"light.onoff", "lamps"},
		{"light.onoff.fade", "exact"},
		{"light.onoff.fade.slow", "exact"},
		{"lightning", ""},
		{"ligh", ""},
		{"Light", ""},
		{"shell.run@uptime", "shell"},
		{"shell.run@unknown", "shell"},
		{"shell@x", ""},
		{"ptz.absolute@onvif/camera-006", "cameras"},
		{"ptz.absolute@onvif/camera-007", ""},
		{"ptz.absolute", ""},
		{"", ""},
		{".", ""},
	}
	for _, tt := range tests {
		got := ""
		if p, ok := r.Resolve(tt.called); ok {
			got = p.ID()
		}
		if got != tt.want {
			t.Errorf("Resolve(%q) = %q, want %q", tt.called, got, tt.want)
		}
	}
}

func TestAConflictRefusesTheWholeBatch(t *testing.T) {
	tests := []struct {
		name   string
		second named
		reason string
	}{
		{"taken id", named{"two", []string{"free", "taken"}}, "capability_conflict"},
		{"id named twice", named{"two", []string{"free", "free"}}, "capability_conflict"},
		{"badly spelt id", named{"two", []string{"free", "a..b"}}, "capability_id_invalid"},
		{"taken name", named{"one", []string{"free"}}, "provider_conflict"},
	}
	for _, tt := range tests {
		var r Registry
		if err := r.Register(named{"one", []string{"taken"}}); err != nil {
			t.Fatal(err)
		}
		if err := r.Register(tt.second); !errs.Is(err, tt.reason) {
			t.Errorf("%s: Register = %v, want %s", tt.name, err, tt.reason)
		}
		if got := r.Served(); !slices.Equal(got, []string{"taken"}) {
			t.Errorf("%s: served after the refusal: %v", tt.name, got)
		}
		if len(r.Providers()) != 1 {
			t.Errorf("%s: the refused provider stayed", tt.name)
		}
	}
}

func TestOptionalPartsHaveDefaults(t *testing.T) {
	plain, all := named{"p", nil}, slow{named{"s", nil}}
	if _, priced := PriceOf(plain, "a"); priced || LimitOf(plain, "a") != ShortCall {
		t.Error("a plain provider is not free and short")
	}
	if price, priced := PriceOf(all, "a"); !priced || price != 5 || LimitOf(all, "a") != time.Hour {
		t.Error("price or limit of a provider is not taken")
	}
	if _, priced := PriceOf(all, "b"); priced {
		t.Error("a free id of a charging provider costs something")
	}
}
