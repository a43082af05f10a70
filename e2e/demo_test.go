package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// The demo works, twice in a row and beside another one, with payments too, and says
// why when it does not.
func TestDemo(t *testing.T) {
	bin := filepath.Dir(stage.Binary(t, "anet"))
	stage.Binary(t, "anet-hub")
	stage.Binary(t, "text-service")
	command := stage.Command{Name: "demo", Path: stage.Binary(t, "demo"), Args: []string{"-bin", bin}, Dir: stage.Root()}
	plays := func(t *testing.T) {
		t.Parallel()
		if out := stage.Run(t, 4*stage.Patience, command); out.Code != 0 || !strings.HasSuffix(out.Out, "\ndemo: ok\n") {
			t.Errorf("the demo: %s", out)
		}
	}
	for _, round := range []string{"first", "again"} {
		t.Run(round, func(t *testing.T) {
			t.Run("one", plays)
			t.Run("beside it", plays)
		})
	}
	paid := command
	paid.Args = append(paid.Args, "-pay")
	if out := stage.Run(t, 4*stage.Patience, paid); out.Code != 0 || strings.Count(out.Out, "\nreceipt bafy") != 2 || !strings.HasSuffix(out.Out, "\ndemo-pay: ok\n") {
		t.Errorf("the demo of payments: %s", out)
	}
	command.Args = []string{"-bin", t.TempDir()}
	if out := stage.Run(t, stage.Patience, command); out.Code != 1 || !strings.Contains(out.Err, "make build") {
		t.Errorf("without its programs: %s", out)
	}
}
