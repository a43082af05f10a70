package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A disk that is full is not filled further by saying so.
func TestTroubleIsSaidOnceAndCounted(t *testing.T) {
	var trouble Trouble
	var out bytes.Buffer
	log, now := slog.New(slog.NewTextHandler(&out, nil)), time.Unix(0, 0)
	full, other := errors.New("disk is full"), errors.New("disk is gone")
	for range 1000 {
		trouble.Tell(log, now, "no", full)
		now = now.Add(100 * time.Millisecond)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Fatalf("a thousand failures within two minutes took %d lines", n)
	}
	now = now.Add(troublePause)
	for range 100 {
		trouble.Tell(log, now, "no", full)
		trouble.Tell(log, now, "no", other)
	}
	trouble.Tell(log, now.Add(-time.Hour), "no", other) // the clock was set back
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "more_before=999") || !strings.Contains(lines[2], "gone") {
		t.Errorf("it says:\n%s", out.String())
	}
	for i := range 2 * maxTroubles {
		trouble.Tell(log, now, "no", fmt.Errorf("number %d", i))
	}
	if len(trouble.told) > maxTroubles {
		t.Errorf("%d troubles are remembered", len(trouble.told))
	}
}
