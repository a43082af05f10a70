package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// scene is a compose project with a hub and a database in it.
type scene struct {
	engine  *engine
	project string
	hub     string // URL
	log     *slog.Logger

	hold     time.Duration // how long a fault lasts
	offset   time.Duration // how far the clock moves
	patience time.Duration // how long a recovery may take
	pause    time.Duration // between two looks
}

// fault breaks something and mends it. One without an end is over by itself.
type fault struct {
	name  string
	begin func(context.Context) error
	end   func(context.Context) error
}

func (s *scene) faults() []fault {
	return []fault{
		{"hub-down", s.killHub, s.startHub},
		{"database-restart", s.restartDatabase, nil},
		{"clock", s.moveClock, s.rightClock},
	}
}

// named is one fault, or all of them.
func (s *scene) named(name string) (chosen []fault) {
	for _, f := range s.faults() {
		if name == f.name || name == "all" {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// play goes through faults. Each begins with a hub that is ready and ends with
// one.
func (s *scene) play(ctx context.Context, chosen []fault) (err error) {
	if s.project == "" {
		if s.project, err = s.engine.ownProject(ctx); err != nil {
			return err
		}
	}
	if err := s.ready(ctx); err != nil {
		return err
	}
	for _, f := range chosen {
		if err := s.provoke(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// provoke also mends when it is interrupted, or when the beginning failed half way.
func (s *scene) provoke(ctx context.Context, f fault) error {
	s.log.Info("fault begins", "fault", f.name)
	err := f.begin(ctx)
	whatever := context.WithoutCancel(ctx)
	if f.end != nil {
		if err == nil {
			err = wait(ctx, s.hold)
		}
		err = errors.Join(err, f.end(whatever))
	}
	began := time.Now()
	if err = errors.Join(err, s.ready(whatever)); err != nil {
		return err
	}
	s.log.Info("the hub is ready again", "fault", f.name, "after_ms", time.Since(began).Milliseconds())
	return nil
}

// What is broken: the first hub of docker-compose.yml and its database. The other
// hub is there to see it go and come back.
const (
	hubService      = "hub-a"
	databaseService = "postgres-a"
)

func (s *scene) killHub(ctx context.Context) error {
	return s.engine.post(ctx, s.project, hubService, "kill")
}

func (s *scene) startHub(ctx context.Context) error {
	return s.engine.post(ctx, s.project, hubService, "start")
}

func (s *scene) restartDatabase(ctx context.Context) error {
	return s.engine.post(ctx, s.project, databaseService, "restart")
}

// clockFile is where a hub built with the tag faults looks for its offset.
const clockFile = "/tmp/anet-hub-clock-offset"

func (s *scene) moveClock(ctx context.Context) error { return s.setClock(ctx, s.offset) }

func (s *scene) rightClock(ctx context.Context) error { return s.setClock(ctx, 0) }

// setClock returns once the hub goes by the new time.
func (s *scene) setClock(ctx context.Context, off time.Duration) error {
	if err := s.engine.put(ctx, s.project, hubService, clockFile, off.String()); err != nil {
		return err
	}
	err := s.until(ctx, min(s.patience, 10*time.Second), func() error {
		is, err := s.clockOffset(ctx)
		if err == nil && (is-off).Abs() > 5*time.Second {
			err = fmt.Errorf("it is off by %s", is)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the hub's clock does not move by %s; is the hub built with the tag faults? %w", off, err)
	}
	return nil
}

// clockOffset compares the hub's metric with the clock here.
func (s *scene) clockOffset(ctx context.Context) (time.Duration, error) {
	resp, err := s.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "anet_hub_clock_seconds "); ok {
			seconds, err := strconv.ParseFloat(text, 64)
			return time.Until(time.UnixMilli(int64(seconds * 1000))), err
		}
	}
	return 0, errors.New("the hub's metrics do not tell its clock")
}

// ready waits for the hub.
func (s *scene) ready(ctx context.Context) error {
	return s.until(ctx, s.patience, func() error {
		resp, err := s.get(ctx, "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				err = fmt.Errorf("the hub answers %s", resp.Status)
			}
		}
		return err
	})
}

func (s *scene) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.hub+path, nil)
	if err != nil {
		return nil, err
	}
	return (&http.Client{Timeout: 5 * time.Second}).Do(req)
}

// until looks again and again, and gives the last reason when time is over.
func (s *scene) until(ctx context.Context, within time.Duration, look func() error) error {
	for deadline := time.Now().Add(within); ; {
		err := look()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		if stopped := wait(ctx, s.pause); stopped != nil {
			return errors.Join(stopped, err)
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
