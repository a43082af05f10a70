package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// demo times "make demo" from the command to the first answer of the directory:
// once with nothing compiled, as on a fresh clone whose modules are there, and
// once more.
func demo(t testing.TB, _ options) []Row {
	cache := stage.Dir(t)
	first, all := demoRun(t, cache)
	again, _ := demoRun(t, cache)
	return []Row{{What: "make demo, first answer", Measured: fmt.Sprintf("%.1f s", first.Seconds()), Target: "< 60 s", Pass: first < time.Minute,
		Goal: "20 s", Met: first <= 20*time.Second,
		Note: fmt.Sprintf("with an empty build cache, whole demo %.1f s; with a full one %.1f s", all.Seconds(), again.Seconds())}}
}

func demoRun(t testing.TB, cache string) (first, all time.Duration) {
	t.Helper()
	begin := time.Now()
	cmd := exec.Command("make", "demo")
	cmd.Dir, cmd.Env = stage.Root(), append(os.Environ(), "GOCACHE="+cache)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	stage.Must(t, err)
	stage.Must(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if first == 0 && strings.Contains(lines.Text(), `{"agents":[{`) {
			first = time.Since(begin)
		}
	}
	stage.Must(t, cmd.Wait())
	if first == 0 {
		t.Fatal("the demo shows no answer of the directory")
	}
	return first, time.Since(begin)
}
