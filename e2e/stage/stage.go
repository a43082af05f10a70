// Package stage puts real hubs, nodes and programs on a stage for the stories
// of e2e: the binaries of this repository, started as people start them, with
// folders, ports and logs of their own.
//
// The one rule: whatever a story starts ends with it, by its process id, also
// when the story fails. Nobody sleeps for luck: a story waits for a condition
// with a deadline (Until), and a log is shown only when the story failed.
package stage

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/testkit"
)

// Patience is how long a story waits for what has to come.
const Patience = testkit.Patience

// Stall is how long a busy machine may hold up whatever a story measures. An upper
// bound is a promise and this: a product that breaks the promise is to be later than
// both, or the story has to show it by something else than a clock.
const Stall = 30 * time.Second

// atOnce is how many stories run side by side where -parallel does not say. They wait
// for one another's starts, for timers and for silence far more than they work, so it
// is no matter of how many cores there are.
const atOnce = 6

// Main runs the stories of a package and removes what they shared. A story that would
// end otherwise on a busy machine says nothing of Parallel, and runs before those that do.
func Main(m *testing.M) {
	sideBySide()
	code := m.Run()
	Clear()
	os.Exit(code)
}

func sideBySide() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(atOnce)) // it is one of testing's
	}
}

// Clear removes the programs that were built.
func Clear() {
	if built != "" {
		os.RemoveAll(built)
	}
}

// Until waits for a condition. What it waits for is said in words: they are
// all that is left when it does not come.
func Until(t testing.TB, within time.Duration, what string, holds func() bool) {
	t.Helper()
	testkit.Within(t, within, what, holds)
}

// Dir is a folder that goes with the story. Unlike t.TempDir it is short, for
// the sockets in it, and others may pass through: started as root, a hub runs
// its database as somebody else.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "anet-e2e-")
	Must(t, err)
	Must(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("what a story left behind: %v", err)
		}
	})
	return dir
}

// Must ends the story on an error that is none of its business.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// FreePort is a port nobody listens on. It lies below those the system gives
// to outgoing connections, and no other story gets it, so that it is still free when
// a killed hub comes back to it.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 15000 + rand.IntN(15000)
		if claimed(port) && nobodyListens(port) {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// claims hold the ports that were given out, until this process ends. The names of
// abstract sockets are what the tests of all packages share.
var claims struct {
	sync.Mutex
	held []net.Listener
}

func claimed(port int) bool {
	ln, err := net.Listen("unix", fmt.Sprintf("@anet-e2e-port-%d", port))
	if err != nil {
		return false
	}
	claims.Lock()
	defer claims.Unlock()
	claims.held = append(claims.held, ln)
	return true
}

// nobodyListens looks while this process starts no other, which would hold the look's
// own listener until it runs a program.
func nobodyListens(port int) bool {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	ln.Close()
	return true
}

// Write puts a file into the folder of a story.
func Write(t testing.TB, path, content string) string {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	Must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
