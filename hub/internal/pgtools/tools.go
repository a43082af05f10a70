package pgtools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Tools are the programs of one folder, for one database.
type Tools struct {
	dir string
	env []string
}

// New makes them for the database of a URL.
func New(dir, url string) (Tools, error) {
	env, err := environment(url)
	return Tools{dir: dir, env: env}, err
}

// Dump writes an archive of the database as a snapshot shows it, without the
// rows of the tables left out and of those that a crash empties anyway.
func (t Tools) Dump(ctx context.Context, to io.Writer, snapshot string, leaveOut ...string) error {
	args := []string{"--format=custom", "--no-owner", "--no-privileges", "--no-password", "--no-publications",
		"--no-subscriptions", "--no-security-labels", "--no-unlogged-table-data", "--snapshot=" + snapshot}
	for _, table := range leaveOut {
		args = append(args, "--exclude-table-data=*."+table)
	}
	dump, words := t.command(ctx, "pg_dump", args...)
	out := &sink{to: to}
	dump.Stdout = out
	err := dump.Run()
	if out.failed != nil {
		return out.failed
	}
	return failure("pg_dump", err, words)
}

// sink remembers why nothing more could be written. The program that wrote knows
// only that nobody read on.
type sink struct {
	to     io.Writer
	failed error
}

func (s *sink) Write(p []byte) (n int, err error) {
	if n, err = s.to.Write(p); err != nil {
		s.failed = err
	}
	return n, err
}

// Restore runs an archive in one transaction, between statements of the
// caller's. Its COMMIT is sent when psql has told that all the rest was done:
// whatever ends early, this process included, ends without, and nothing happened.
func (t Tools) Restore(ctx context.Context, archive, before, after string) error {
	list, err := t.contents(ctx, archive)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	psql, said := t.command(ctx, "psql", "--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--file=-")
	in, err := psql.StdinPipe()
	if err != nil {
		return err
	}
	out, err := psql.StdoutPipe()
	if err != nil {
		return err
	}
	if err := psql.Start(); err != nil {
		return fmt.Errorf("start psql: %w", err)
	}
	told := t.script(ctx, in, archive, list, "BEGIN;\n"+before, after)
	if told == nil {
		told = commit(in, out)
	}
	if told != nil && !errors.Is(told, errEnded) {
		cancel()
	}
	_ = in.Close()
	return cause(failure("psql", psql.Wait(), said), told)
}

// allDone is what psql says once it came to the end of the script.
const allDone = "all of it was restored"

var errEnded = errors.New("psql ended early")

func commit(in io.Writer, out io.Reader) error {
	if _, err := io.WriteString(in, "\n\\echo "+allDone+"\n"); err != nil {
		return err
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != allDone {
		return errEnded
	}
	_, err := io.WriteString(in, "COMMIT;\n")
	return err
}

// cause is what the server said, where it said something: the pipe that breaks
// then says less.
func cause(server, told error) error {
	var ended *exec.ExitError
	if told == nil || errors.As(server, &ended) && ended.Exited() {
		return server
	}
	return told
}

// script writes what psql runs.
func (t Tools) script(ctx context.Context, to io.Writer, archive, list, before, after string) error {
	if _, err := io.WriteString(to, before+"\n"); err != nil {
		return err
	}
	restore, words := t.command(ctx, "pg_restore", "--no-owner", "--no-privileges", "--use-list=/dev/stdin", "--file=-", archive)
	restore.Stdin, restore.Stdout = strings.NewReader(list), to
	if err := failure("pg_restore", restore.Run(), words); err != nil {
		return err
	}
	_, err := io.WriteString(to, "\n"+after)
	return err
}

// contents lists what is in an archive, but for extensions: the hub needs none,
// and only a superuser could make those that somebody else had put there.
func (t Tools) contents(ctx context.Context, archive string) (string, error) {
	list, words := t.command(ctx, "pg_restore", "--list", archive)
	var out bytes.Buffer
	list.Stdout = &out
	if err := failure("pg_restore", list.Run(), words); err != nil {
		return "", err
	}
	var kept strings.Builder
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, " EXTENSION ") {
			kept.WriteString(line)
		}
	}
	return kept.String(), nil
}

func (t Tools) command(ctx context.Context, name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd, words := exec.CommandContext(ctx, filepath.Join(t.dir, name), args...), &bytes.Buffer{}
	cmd.Env, cmd.Stderr, cmd.WaitDelay = t.env, words, 5*time.Second
	return cmd, words
}

// failure says what a program said, the last and most telling lines of it.
func failure(name string, err error, words *bytes.Buffer) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(words.String()), "\n")
	return fmt.Errorf("%s: %w: %s", name, err, strings.Join(lines[max(0, len(lines)-4):], "; "))
}
