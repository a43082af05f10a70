package need

import (
	"os"
	"path/filepath"
	"testing"
)

func TestASkipIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skips")
	t.Setenv(skips, file)
	t.Setenv("CI", "")
	t.Run("story", func(t *testing.T) { lack(t, "%s is not installed", "moonshine") })
	told, err := os.ReadFile(file)
	if want := t.Name() + "/story: moonshine is not installed\n"; err != nil || string(told) != want {
		t.Errorf("%q, %v, want %q", told, err, want)
	}
}
