package stage

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// programs are what stories start.
var programs = map[string]func() error{
	"anet-hub":     building("./hub/cmd/anet-hub"),
	"anet":         building("./node/cmd/anet"),
	"text-service": building("./deploy/examples/text-service"),
	"demo":         building("./e2e/demo"),
}

var built string // the folder of the binaries, once there is one

var makeBuilt = sync.OnceValue(func() (err error) {
	built, err = os.MkdirTemp("", "anet-e2e-bin-")
	return err
})

// building makes a program once per test process; the go command's cache makes
// the second time cheap.
func building(pkg string) func() error {
	return sync.OnceValue(func() error {
		if err := makeBuilt(); err != nil {
			return err
		}
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", built+"/", pkg)
		cmd.Dir, cmd.Env = Root(), append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
		return nil
	})
}

// Binary is the path of one of our programs.
func Binary(t testing.TB, name string) string {
	t.Helper()
	if err := programs[name](); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(built, name)
}

// Root is the folder of the repository.
func Root() string {
	_, self, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(self), "..", "..")
}
