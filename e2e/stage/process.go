package stage

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Command says what to start. Env is added to a small environment of our own:
// what the developer has set must not change a story.
type Command struct {
	Name string // in messages, and of the log
	Path string
	Args []string
	Env  []string
	Dir  string
	User *syscall.Credential // somebody else, for programs that refuse to run as root
}

// Process is a program that runs, in a group of its own. Its output goes to a
// file, which outlives kills and is shown when the story fails.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	err   error // of Wait, once ended is closed
}

// Start starts a program that ends with the story.
func Start(t testing.TB, c Command) *Process {
	t.Helper()
	p := &Process{Name: c.Name, log: filepath.Join(Dir(t), c.Name+".log"), ended: make(chan struct{})}
	out, err := os.Create(p.log)
	Must(t, err)
	defer out.Close()
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Dir, p.cmd.Env = c.Dir, Environment(c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.User}
	Must(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Kill()
		p.show(t)
	})
	return p
}

// Environment is what our programs run with.
func Environment(more ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
	for _, name := range []string{"XDG_RUNTIME_DIR", "TMPDIR", "USER"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return append(env, more...)
}

// PID is its process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Alive reports whether it runs.
func (p *Process) Alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Kill is kill -9, and returns when the process is gone.
func (p *Process) Kill() {
	if p.Alive() {
		_ = p.cmd.Process.Kill()
	}
	<-p.ended
}

// Signal sends a signal.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Stop asks it to end and says how long that took and how it ended.
func (p *Process) Stop(t testing.TB) (took time.Duration, err error) {
	t.Helper()
	start := time.Now()
	p.Signal(syscall.SIGTERM)
	err = p.Wait(t)
	return time.Since(start), err
}

// Wait waits for its end and gives the error it ended with.
func (p *Process) Wait(t testing.TB) error {
	t.Helper()
	select {
	case <-p.ended:
		return p.err
	case <-time.After(Patience):
		t.Fatalf("%s (process %d) does not end", p.Name, p.PID())
		return nil
	}
}

// Code is the exit code of a process that has ended.
func (p *Process) Code() int { return p.cmd.ProcessState.ExitCode() }

// Log is all it has written so far.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.log)
	return string(text)
}

// show prints the end of the log when the story failed.
func (p *Process) show(t testing.TB) {
	if !t.Failed() {
		return
	}
	lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
	t.Logf("the end of %s's log:\n%s", p.Name, strings.Join(lines[max(0, len(lines)-40):], "\n"))
}

// Output is what a program that ran to its end left.
type Output struct {
	Code     int
	Out, Err string
}

func (o Output) String() string { return fmt.Sprintf("exit %d\n%s%s", o.Code, o.Out, o.Err) }

// Run runs a program to its end.
func Run(t testing.TB, within time.Duration, c Command) Output {
	t.Helper()
	cmd := exec.Command(c.Path, c.Args...)
	out, errs := scratch(t), scratch(t)
	defer out.Close()
	defer errs.Close()
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, Environment(c.Env...), out, errs
	Must(t, cmd.Start())
	late := time.AfterFunc(within, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	o := Output{cmd.ProcessState.ExitCode(), content(t, out), content(t, errs)}
	if !late.Stop() {
		t.Fatalf("%s %s did not end within %s: %s", c.Name, strings.Join(c.Args, " "), within, o)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return o
}

// scratch is a file without a name. What a program writes into one is whole when the
// program has ended; a pipe would be held open by a daemon that it left behind.
func scratch(t testing.TB) *os.File {
	t.Helper()
	f, err := os.CreateTemp("", "anet-e2e-")
	Must(t, err)
	Must(t, os.Remove(f.Name()))
	return f
}

func content(t testing.TB, f *os.File) string {
	t.Helper()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	Must(t, err)
	return string(text)
}

// Group are the ids of every process below pid, itself first.
func Group(pid int) []int {
	found := []int{pid}
	for i := 0; i < len(found); i++ {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", found[i]))
		for _, file := range tasks {
			text, _ := os.ReadFile(file)
			for _, word := range strings.Fields(string(text)) {
				var child int
				if _, err := fmt.Sscan(word, &child); err == nil && !slices.Contains(found, child) {
					found = append(found, child)
				}
			}
		}
	}
	return found
}
