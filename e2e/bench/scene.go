package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// scene lets the stage of the stories be used outside of a test: it is the
// testing.TB of one benchmark. What the stage does not use is left out, and
// would panic.
type scene struct {
	testing.TB
	cleanups []func()
	err      error
}

// stopped is how Fatal leaves a scene.
type stopped struct{}

// play runs f and clears away what it put on the stage.
func play(f func(testing.TB)) error {
	s := &scene{}
	s.guard(func() { f(s) })
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.guard(s.cleanups[i])
	}
	return s.err
}

func (s *scene) guard(f func()) {
	defer func() {
		if p := recover(); p != nil && p != any(stopped{}) {
			panic(p)
		}
	}()
	f()
}

func (s *scene) Helper()                  {}
func (s *scene) Context() context.Context { return context.Background() }
func (s *scene) Cleanup(f func())         { s.cleanups = append(s.cleanups, f) }
func (s *scene) Failed() bool             { return s.err != nil }

func (s *scene) Logf(format string, args ...any) { say(format, args...) }

func (s *scene) Errorf(format string, args ...any) {
	s.err = errors.Join(s.err, fmt.Errorf(format, args...))
}

func (s *scene) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	panic(stopped{})
}

func (s *scene) Fatal(args ...any) { s.Fatalf("%s", fmt.Sprint(args...)) }
