package federation

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// Who is a peer already is entered no second time; what runs at every start says
// that this is what it wants.
func TestAPeerIsEnteredOnce(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	again := []string{"peer", "add", hubs.b.URL, "--yes", "--peer-allow-range", "127.0.0.0/8"}
	for _, tt := range []struct {
		flag string
		code int
		says string
	}{{"--name=other", 1, "already"}, {"--if-missing", 0, "there already"}} {
		out := hubs.a.Operate(t, append(again, tt.flag)...)
		if out.Code != tt.code || !strings.Contains(out.Out+out.Err, tt.says) {
			t.Errorf("peer add %s: %s, want exit %d and %q", tt.flag, out, tt.code, tt.says)
		}
	}
	if n := len(stage.Peers(t, hubs.a)); n != 1 {
		t.Errorf("%d peers, want one", n)
	}
}
