package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
)

const (
	logName = "anet.log"
	// A log this large is put aside at the next start; one older is kept.
	maxLog = 16 << 20
)

// upDetached starts the node as a process of its own and watches over it until
// the hub has taken it in.
func (p *Program) upDetached(ctx context.Context, dir datadir.Dir, level string) error {
	if up, err := p.alreadyUp(ctx, dir); up || err != nil {
		return err
	}
	log, err := openLog(dir)
	if err != nil {
		return err
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	child, err := p.spawn(dir, log, level)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	c := control.Dial(dir)
	defer c.Close()
	s, err := registered(ctx, c, ended)
	if died := (*diedError)(nil); errors.As(err, &died) {
		return died.explain(log, from)
	}
	if err != nil {
		return err
	}
	return p.showUp(s)
}

// goneWithin is how long a process that is ending may hold the folder.
const goneWithin = 5 * time.Second

// alreadyUp shows the node that runs. One that went away before it answered was
// just ending, or was killed: then none runs once it has let go of the folder.
func (p *Program) alreadyUp(ctx context.Context, dir datadir.Dir) (bool, error) {
	c := control.Dial(dir)
	defer c.Close()
	s, err := c.Status(ctx)
	switch {
	case errs.Is(err, control.NotRunning), errs.Is(err, control.ConnectionLost):
		ctx, cancel := context.WithTimeout(ctx, goneWithin)
		defer cancel()
		return false, control.Free(ctx, dir)
	case err != nil:
		return false, err
	}
	p.note("the node is running already")
	return true, p.showUp(s)
}

// showUp says how the node came up. One that is not registered works on, so
// that is told apart from a start that failed.
func (p *Program) showUp(s node.Status) error {
	if !s.Registered {
		return errs.New(errs.Unavailable, "not_registered",
			"the node is running, but its hub has not taken it in: %s (it goes on trying; see: anet status)", whyNot(s))
	}
	return p.show(s, func(w io.Writer) {
		fmt.Fprintf(w, "up\t%s\nat\t%s\nserves\t%s\n", s.AID, line(s.Hub), words(s.Served))
	})
}

func whyNot(s node.Status) string {
	for _, why := range []string{s.Stopped, s.RegisterError, s.HubError, s.PollError} {
		if why != "" {
			return line(why)
		}
	}
	return "no answer yet"
}

func openLog(dir datadir.Dir) (*os.File, error) {
	path := dir.Path(logName)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// spawn starts this program again, in a session of its own, so that closing the
// terminal does not reach it. What the invite was is not its business.
func (p *Program) spawn(dir datadir.Dir, log *os.File, level string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, "up", "--data-dir", dir.String(), "--log-level", level)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = "/"
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, inviteVariable+"=") })
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the node: %w", err)
	}
	return cmd, nil
}

// diedError is a node that ended before it was up.
type diedError struct{ exit error }

func (d *diedError) Error() string { return "the node ended at once: " + d.exit.Error() }

// startPatience is how long the hub may take to answer. Beyond it the node is
// up and told as not registered.
const startPatience = 20 * time.Second

// registered waits until the node tells how its registration went.
func registered(ctx context.Context, c *control.Client, ended <-chan error) (node.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var last node.Status
	for {
		s, err := c.Status(ctx)
		if err == nil {
			last = s
		}
		if err == nil && (s.Registered || s.RegisterError != "" || s.Stopped != "") {
			return s, nil
		}
		select {
		case err := <-ended:
			return last, &diedError{errOr(err, "it stopped")}
		case <-ctx.Done():
			return last, nil
		case <-tick.C:
		}
	}
}

func errOr(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errors.New(otherwise)
}

// explain gives the node's own last words, which this process did not hear, and
// its exit code.
func (d *diedError) explain(log *os.File, from int64) error {
	written, err := io.ReadAll(io.NewSectionReader(log, from, maxLog))
	if err != nil {
		return errors.Join(d, err)
	}
	_, words, found := strings.Cut("\n"+string(written), "\nanet: ")
	if !found {
		return fmt.Errorf("%w; the end of %s:\n%s", d, log.Name(), tail(string(written), 20))
	}
	return &ownWords{strings.TrimSpace(words), exitOf(d.exit)}
}

func exitOf(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) && e.ExitCode() > 0 {
		return e.ExitCode()
	}
	return exitError
}

func tail(s string, lines int) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// ownWords are what the process that failed has said of it.
type ownWords struct {
	words string
	exit  int
}

func (o *ownWords) Error() string { return o.words }
