package need

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// NodeModules installs what the package-lock.json of a folder names, once for each
// such file, and gives the folder of it together with the path of Node.js. A machine
// without Node.js, or from which the registry cannot be reached, lacks it.
func NodeModules(t testing.TB, folder string) (node, modules string) {
	t.Helper()
	node = Program(t, "node", "nodejs")
	npm := Program(t, "npm")
	lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(lock)
	kept := filepath.Join(cache, "anet-e2e", "npm-"+hex.EncodeToString(sum[:8]))
	modules = filepath.Join(kept, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return node, modules
	}
	install(t, npm, folder, kept)
	return node, modules
}

// install goes through a folder of its own, so that what is kept is whole.
func install(t testing.TB, npm, folder, kept string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	making, err := os.MkdirTemp(filepath.Dir(kept), "making-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(making)
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(making, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = making
	if out, err := cmd.CombinedOutput(); err != nil {
		lack(t, "npm installs nothing: %v: %s", err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(making, kept); err != nil && !os.IsExist(err) {
		if _, there := os.Stat(filepath.Join(kept, "node_modules")); there != nil {
			t.Fatal(err)
		}
	}
}
