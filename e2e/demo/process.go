package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// process is a program the demo started, in a session of its own: Ctrl-C
// reaches the demo alone, which then stops it in order.
type process struct {
	name  string
	log   string
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // once ended is closed
}

func start(name, log, program string, args ...string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{name: name, log: log, cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = out, out, environment()
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// environment leaves out what is set for a hub or a node of the developer's own,
// such as another database.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ANET_") })
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// patience is for a busy machine; nothing here takes that long on an idle one.
const patience = 2 * time.Minute

// until waits for something the process brings about.
func (p *process) until(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		if holds() {
			tick.Stop()
			return nil
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("%s ended before %s: %w", p.name, what, p.err)
		case <-ctx.Done():
			return fmt.Errorf("%s: not within %s: %s", p.name, patience, what)
		}
	}
}

func (p *process) stop() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s had ended by itself: %v", p.name, p.err)
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may end at this very moment
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("%s did not stop and was killed", p.name)
	}
}

// tail is the end of a log.
func tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// agent is a node, worked through its command line as anybody would.
type agent struct {
	name string
	dir  string
	anet string
}

func (a agent) log() string { return filepath.Join(a.dir, "anet.log") }

// aid asks the node who it is, without showing the question.
func (a agent) aid() (string, error) {
	cmd := exec.Command(a.anet, "--data-dir", a.dir, "identity", "show", "--json")
	cmd.Env = environment()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("anet identity show: %w", err)
	}
	var id struct{ AID string }
	return id.AID, json.Unmarshal(out, &id)
}

// run runs a command of the node and shows it.
func (a agent) run(ctx context.Context, args ...string) (string, error) {
	fmt.Printf("%s $ anet %s\n", a.name, shell(args))
	cmd := exec.CommandContext(ctx, a.anet, args...)
	cmd.Env = append(environment(), "ANET_DATA_DIR="+a.dir)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("anet %s: %w\n%s%s", args[0], err, out.String(), words.String())
	}
	return out.String(), nil
}

// shell writes arguments as one would type them; a long one is cut.
func shell(args []string) string {
	typed := make([]string, len(args))
	for i, a := range args {
		if len(a) > 60 {
			a = a[:40] + "…"
		}
		if strings.ContainsAny(a, " *{\"'…") {
			a = "'" + a + "'"
		}
		typed[i] = a
	}
	return strings.Join(typed, " ")
}
