//go:build faults

package app

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// clock is wrong by what a file says, such as 10m: what happens on a machine
// whose clock is off can be tried without one. No program that people run is
// built with this file; see deploy/faults.
var clock = (&wrongClock{file: filepath.Join(os.TempDir(), "anet-hub-clock-offset")}).now

type wrongClock struct {
	file string

	mu     sync.Mutex
	looked time.Time
	off    time.Duration
}

func (c *wrongClock) now() time.Time {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked) > time.Second {
		c.looked, c.off = now, c.read()
	}
	return now.Add(c.off)
}

// read gives no offset where there is no file.
func (c *wrongClock) read() time.Duration {
	text, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	off, bad := time.ParseDuration(strings.TrimSpace(string(text)))
	if err = errors.Join(err, bad); err != nil {
		slog.Error("the clock's offset cannot be read", "file", c.file, "error", err)
	}
	return off
}
