// Package need asks for what a machine may lack. A test that cannot have it is
// skipped, visibly, on a developer's machine and fails where CI is set: there
// everything is installed, and a test that did not run proves nothing.
package need

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Program is the path of an installed program.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := lookPath(name); err == nil {
			return path
		}
	}
	lack(t, "%s is not installed", names[0])
	return ""
}

// Docker wants an engine that answers.
func Docker(t testing.TB) {
	t.Helper()
	docker := Program(t, "docker")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, docker, "version")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		lack(t, "no Docker engine answers: %v: %s", err, strings.TrimSpace(said.String()))
	}
}

// Compose is the command line of Docker's compose, the newer one where it is
// there, with an engine behind it.
func Compose(t testing.TB) []string {
	t.Helper()
	Docker(t)
	return ComposeProgram(t)
}

// ComposeProgram is Compose for what needs no engine.
func ComposeProgram(t testing.TB) []string {
	t.Helper()
	if exec.Command("docker", "compose", "version").Run() == nil {
		return []string{"docker", "compose"}
	}
	return []string{Program(t, "docker-compose")}
}

// Chromium is the path of a browser that chromedp can drive.
func Chromium(t testing.TB) string {
	t.Helper()
	return Program(t, "chromium", "chromium-browser", "google-chrome")
}

// Root wants the rights to act as another user.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		lack(t, "the test does not run as root")
	}
}

// lookPath also looks where daemons live, which an ordinary user's PATH leaves out.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + name)
}

func lack(t testing.TB, format string, args ...any) {
	t.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv("CI") != "" {
		t.Fatalf("needed here: %s", what)
	}
	record(t, what)
	t.Skipf("not on this machine: %s", what)
}

// skips names the file in which make test collects what was skipped: go test
// shows the skips of no package that passes.
const skips = "ANET_TEST_SKIPS"

func record(t testing.TB, what string) {
	path := os.Getenv(skips)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s: %s\n", t.Name(), what); err != nil {
		t.Fatal(err)
	}
}
