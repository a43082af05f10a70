package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/testkit/need"
)

// TestStoreAgainstTheContainerImage runs the tests of the store again, on the
// PostgreSQL of the image that deploy/images.sh makes: over TCP, with a
// password, as a user that is no superuser's neighbour.
func TestStoreAgainstTheContainerImage(t *testing.T) {
	need.Docker(t)
	command(t, nil, "deploy/images.sh", "postgres")
	url := postgresContainer(t, "anet-postgres:local")
	command(t, []string{"TEST_DATABASE_URL=" + url}, "go", "test", "-count=1", "./hub/pgtest", "./migrations", "./hub/internal/postgres/...")
}

// postgresContainer runs the image through testcontainers-go, in the program
// that pgtest falls back to, and ends it with the test.
func postgresContainer(t *testing.T, image string) (url string) {
	t.Helper()
	cmd := exec.Command("go", "run", "./hub/pgtest/pgcontainer")
	cmd.Dir, cmd.Stderr = "..", t.Output()
	cmd.Env = append(os.Environ(), "TEST_POSTGRES_IMAGE="+image)
	leash, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = leash.Close(); _ = cmd.Wait() })
	url, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s did not start: %v", image, err)
	}
	return strings.TrimSpace(url)
}

// command runs a program at the root of the repository and shows what it said
// when it fails.
func command(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
