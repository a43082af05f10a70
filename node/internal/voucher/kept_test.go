package voucher

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// A payment belongs to who is at work on it; when that one is gone, to who comes for
// the same address.
func TestKept(t *testing.T) {
	dir, err := datadir.Open(filepath.Join(t.TempDir(), "n"))
	must(t, err)
	left := func(url string) string {
		t.Helper()
		k, err := Left(dir, url)
		must(t, err)
		if k == nil {
			return ""
		}
		must(t, k.Close())
		return k.Payment
	}
	if got := left("a"); got != "" {
		t.Errorf("an empty folder has %q", got)
	}
	first, err := Keep(dir, Kept{URL: "a", Payment: "first", Transaction: "1", Expires: time.Now()})
	must(t, err)
	second, err := Keep(dir, Kept{URL: "a", Payment: "second", Transaction: "2"})
	must(t, err)
	if got := left("a"); got != "" {
		t.Errorf("%q was taken while somebody is at work on it", got)
	}
	must(t, first.Close())
	if a, b := left("a"), left("b"); a != "first" || b != "" {
		t.Errorf("left behind are %q and %q, want the first for its own address", a, b)
	}
	again, err := Left(dir, "a")
	must(t, err)
	if again.Lapsed(time.Now()) || !again.Lapsed(again.Expires.Add(payment.Skew+time.Minute+time.Second)) {
		t.Error("a payment is of use until its end, and the skew of clocks")
	}
	must(t, again.Done())
	must(t, second.Done())
	if got := left("a"); got != "" {
		t.Errorf("%q came back after it was done", got)
	}
	old, err := Keep(dir, Kept{URL: "old", Payment: "old", Transaction: "4", Expires: time.Now().Add(-25 * time.Hour)})
	must(t, err)
	must(t, old.Close())
	if a, b := left("a"), left("old"); a != "" || b != "" {
		t.Errorf("left behind are %q and %q: nothing can be bought with them", a, b)
	}
	must(t, os.WriteFile(dir.Path("purchases/3.json"), []byte("{"), 0o600))
	if _, err := Left(dir, "a"); !errs.Is(err, "purchase_file_broken") {
		t.Errorf("a damaged file: %v", err)
	}
}
