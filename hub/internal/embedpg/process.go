package embedpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	pause     = 20 * time.Millisecond // between two looks at a server that is on its way
	patience  = 5 * time.Second       // with a server that was told to end
	tryFor    = 15 * time.Second      // how long a start that fails is tried again
	recovery  = 2 * time.Minute       // how long a server may take to come up after a crash
	tellEvery = 2 * time.Second       // while it is waited for
)

// process is a server that runs: a child of ours, or one we found running.
type process struct {
	postmaster
	ended chan struct{} // closed when the process is gone
}

// run adopts the server that a killed owner left behind, or starts one. The
// processes of a killed server hold its memory for a moment after it, so a start
// that fails is tried again; the time for that begins anew after a wait for
// another server.
func (s *Server) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recovery)
	defer cancel()
	var told time.Time
	for since := time.Now(); ; {
		proc, other, err := s.attempt(ctx)
		if err == nil {
			s.proc = proc
			return nil
		}
		if other {
			since = time.Now()
		}
		if time.Since(since) > tryFor || !sleep(ctx, 10*pause) {
			return err
		}
		if time.Since(told) >= tellEvery {
			told = time.Now()
			s.log.Info("the database did not start, trying again", "error", err)
		}
	}
}

// attempt tells whether it was another server that it waited for.
func (s *Server) attempt(ctx context.Context) (_ *process, other bool, err error) {
	found, err := readPostmaster(s.cluster.dir)
	if other = err == nil && found.alive(); other {
		proc, err := s.adopt(ctx, found)
		return proc, true, err
	}
	s.endOrphans()
	proc, err := s.launch(ctx)
	return proc, false, err
}

// adopt waits for a server that is there already, be it coming up or going down.
func (s *Server) adopt(ctx context.Context, found postmaster) (*process, error) {
	proc := &process{postmaster: found, ended: make(chan struct{})}
	go func() {
		defer close(proc.ended)
		for found.alive() {
			time.Sleep(10 * pause)
		}
	}()
	if err := s.waitReady(ctx, proc); err != nil {
		return nil, err
	}
	s.log.Info("adopted the running database", "pid", proc.pid)
	return proc, nil
}

func (s *Server) launch(ctx context.Context) (*process, error) {
	socketDir, err := s.socketDir()
	if err != nil {
		return nil, fmt.Errorf("folder for the database's socket: %w", err)
	}
	clearLocks(s.cluster.dir, socketDir)
	// A file and no pipe: a pipe would break when the hub is killed and the
	// server lives on.
	words, err := os.Create(filepath.Join(s.cluster.dataDir, "postgres-start.log"))
	if err != nil {
		return nil, fmt.Errorf("start the database: %w", err)
	}
	defer words.Close()
	if err := s.cluster.account.give(words.Name()); err != nil {
		return nil, fmt.Errorf("start the database: %w", err)
	}
	cmd := exec.Command(s.programs.path("postgres"), arguments(s.cluster.dir, socketDir, s.settings)...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.cluster.dir, environment(), s.cluster.account.attr()
	cmd.Stdout, cmd.Stderr = words, words
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the database: %w", err)
	}
	return s.await(ctx, cmd, words.Name())
}

// socketDir stays what it was over a restart, so that the URL does.
func (s *Server) socketDir() (string, error) {
	if s.proc != nil {
		return s.proc.socketDir, nil
	}
	return s.cluster.socketDir()
}

func (s *Server) await(ctx context.Context, cmd *exec.Cmd, words string) (*process, error) {
	proc := &process{
		postmaster: postmaster{dir: s.cluster.dir, pid: cmd.Process.Pid},
		ended:      make(chan struct{}),
	}
	go func() {
		_ = cmd.Wait()
		close(proc.ended)
	}()
	if err := s.waitReady(ctx, proc); err != nil {
		_ = proc.stop(ctx)
		said, _ := os.ReadFile(words)
		return nil, fmt.Errorf("start the database: %w: %s", err, lastLines(said))
	}
	s.log.Info("database ready", "pid", proc.pid, "postgres", s.programs.major, "folder", s.cluster.dir)
	return proc, nil
}

// waitReady returns when the server says in its own file that it takes
// connections. A server that was killed still says so.
func (s *Server) waitReady(ctx context.Context, p *process) error {
	for told := time.Now(); ; {
		now, err := readPostmaster(p.dir)
		if err == nil && now.pid == p.pid && now.ready() {
			p.postmaster = now
			return nil
		}
		if time.Since(told) >= tellEvery {
			told = time.Now()
			s.log.Info("waiting for the database", "pid", p.pid, "status", now.status)
		}
		select {
		case <-p.ended:
			return fmt.Errorf("the server (process %d) ended", p.pid)
		case <-ctx.Done():
			return fmt.Errorf("the server (process %d) was not ready in time: %w", p.pid, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// stop asks for a fast shutdown (SIGINT), which ends sessions and writes a
// checkpoint; when time is up, for an immediate one (SIGQUIT).
func (p *process) stop(ctx context.Context) error {
	select {
	case <-p.ended: // its number may be another's by now
		return nil
	default:
		_ = syscall.Kill(p.pid, syscall.SIGINT)
	}
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
	}
	_ = syscall.Kill(p.pid, syscall.SIGQUIT)
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the database (process %d) does not stop", p.pid)
	}
}

// supervise starts the server again when it was killed under the hub. A hub
// that cannot reach its database says so in /readyz meanwhile.
func (s *Server) supervise(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.proc.ended:
		}
		s.log.Error("the database ended unexpectedly, starting it again", "pid", s.proc.pid)
		for wait := 10 * pause; s.restart(ctx) != nil; wait = min(2*wait, patience) {
			if !sleep(ctx, wait) {
				return
			}
		}
	}
}

func (s *Server) restart(ctx context.Context) error {
	err := s.run(ctx)
	if err != nil && ctx.Err() == nil {
		s.log.Error("the database does not start", "error", err)
	}
	return err
}

// sleep is false when the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
