package pgtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/anet-hub/anet/hub/internal/embedpg"
)

// findServer takes the first that there is: the one named, a private one, a
// container.
func findServer() (string, error) {
	if named := os.Getenv("TEST_DATABASE_URL"); named != "" {
		return named, nil
	}
	lacking := embedpg.Installed()
	if lacking == nil {
		return privateServer()
	}
	url, err := containerServer()
	if err != nil {
		return "", fmt.Errorf("TEST_DATABASE_URL is not set; %w; no container either: %w", lacking, err)
	}
	return url, nil
}

// containerServer lets a program of its own start the container: the client
// for a container engine is large, and would be linked into every test. The
// container goes when that program's standard input ends, so when this process
// does, however it does.
func containerServer() (string, error) {
	cmd := exec.Command("go", "run", "github.com/anet-hub/anet/hub/pgtest/pgcontainer")
	var words bytes.Buffer
	cmd.Stderr = &words
	if _, err := cmd.StdinPipe(); err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return "", errors.New(strings.TrimSpace(words.String()))
	}
	go func() { _ = cmd.Wait() }() // holds on to our end of its standard input
	return strings.TrimSpace(line), nil
}
