package cmdline

import "context"

// UnlessStopped gives what read gives, unless ctx ends first: a person who does
// not answer, or a pipe nobody writes to, must not outlast Ctrl-C. The read is
// left behind; the program ends.
func UnlessStopped[T any](ctx context.Context, read func() (T, error)) (v T, err error) {
	done := make(chan struct{})
	var got T
	var failed error
	go func() {
		defer close(done)
		got, failed = read()
	}()
	select {
	case <-done:
		return got, failed
	case <-ctx.Done():
		return v, ctx.Err()
	}
}
