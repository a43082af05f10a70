package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/testkit"
)

// A command that is told to stop ends, whatever it was waiting for.
func TestACommandThatReadsCanBeStopped(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	nobodyTypes, _ := io.Pipe()
	for name, line := range map[string][]string{
		"a pipe as a file":      {"delegate", somebody, "hello", "--file", fifo},
		"a pipe as arguments":   {"delegate", somebody, "--capability", "a.b", "--args-file", fifo},
		"stdin as arguments":    {"delegate", somebody, "--capability", "a.b", "--args-file", "-"},
		"a pipe as the invite":  {"join", "http://127.0.0.1:1", "--token-file", fifo},
		"a pipe as an identity": {"identity", "import", fifo},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer stop()
			var out bytes.Buffer
			program := &Program{In: nobodyTypes, Out: &out, Err: &out, Now: time.Now, Getenv: func(string) string { return "" }}
			ended := make(chan int, 1)
			go func() {
				ended <- program.Main(ctx, append([]string{"--data-dir", t.TempDir()}, line...))
			}()
			select {
			case code := <-ended:
				if code == exitDone {
					t.Errorf("it ended with 0")
				}
			case <-time.After(testkit.Patience):
				t.Fatal("it goes on reading")
			}
		})
	}
}
