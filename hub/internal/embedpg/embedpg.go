// Package embedpg runs a private PostgreSQL for a hub that was given no
// database: it finds the installed programs, makes the cluster once, keeps the
// server running, and stops it cleanly.
//
// The one rule: a data folder has one owner at a time. [Start] makes the
// caller that owner until [Server.Stop]; everybody else uses [Attach]. The
// server is no child that dies with its owner: after a kill it goes on
// running, and the next Start adopts it.
package embedpg

import (
	"context"
	"log/slog"

	"github.com/gofrs/flock"
)

// Options say where the private server lives.
type Options struct {
	DataDir  string            // the hub's data folder, made when missing
	BinDir   string            // where PostgreSQL's programs are; empty means look for them
	Settings map[string]string // server settings beyond our own; tests switch fsync off
	Log      *slog.Logger      // nil means say nothing
}

// Server is a running private PostgreSQL and the right to run it.
type Server struct {
	cluster  cluster
	programs programs
	settings map[string]string
	log      *slog.Logger
	owner    *flock.Flock

	proc   *process // the supervision's while it runs, Stop's after that
	url    string
	cancel context.CancelFunc // ends the supervision
	done   chan struct{}      // closed when supervision has ended
}

// Start becomes the owner of the data folder, makes the cluster if there is
// none, and returns when the server takes connections. It is an errs.Conflict
// "data_dir_in_use" while another process is the owner, and an
// errs.Unavailable "postgres_programs_missing" where nothing can be started.
// The context bounds the start, not the life of the server.
func Start(ctx context.Context, o Options) (*Server, error) {
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		s.abandon()
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel, s.done = cancel, make(chan struct{})
	go s.supervise(life)
	return s, nil
}

// prepare does what needs no server: the account, the folder, the ownership
// and the programs.
func prepare(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c, err := openCluster(o.DataDir)
	if err != nil {
		return nil, err
	}
	owner, err := c.own()
	if err != nil {
		return nil, err
	}
	p, err := findPrograms(o.BinDir, c.version())
	if err != nil {
		_ = owner.Unlock()
		return nil, err
	}
	return &Server{cluster: c, programs: p, settings: o.Settings, log: o.Log, owner: owner}, nil
}

func (s *Server) begin(ctx context.Context) error {
	if err := s.cluster.ensure(ctx, s.programs, s.settings, s.log); err != nil {
		return err
	}
	if err := s.run(ctx); err != nil {
		return err
	}
	s.url = s.proc.url()
	return nil
}

// abandon gives the folder back after a start that failed half-way.
func (s *Server) abandon() {
	if s.proc != nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = s.proc.stop(ctx)
	}
	_ = s.owner.Unlock()
}

// URL is the connection URL of the hub's database. It stays the same as long
// as the server lives, also over restarts after a crash.
func (s *Server) URL() string { return s.url }

// Stop ends the server with a checkpoint and gives the folder back. When the
// context ends first the server is ended at once; it recovers at the next start.
func (s *Server) Stop(ctx context.Context) error {
	s.cancel()
	<-s.done
	err := s.proc.stop(ctx)
	s.cluster.removeSocketFolder()
	if unlock := s.owner.Unlock(); err == nil {
		err = unlock
	}
	return err
}
