package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != standIn {
		stage.Main(m)
	}
	if err := systemctl(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, standIn+":", err)
		os.Exit(1)
	}
}
