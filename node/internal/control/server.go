package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/version"
	"github.com/anet-hub/anet/shared/wire"
)

// maxBody holds the files of one message, in base64 and then some.
const maxBody = 160 << 20

// maxWait is the longest one wait is held back.
const maxWait = 25 * time.Second

// About is which process answers at the socket.
type About struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// Serve answers on l until ctx ends. Stop is called when a client asks the node
// to stop; the answer goes out first.
func Serve(ctx context.Context, l net.Listener, api node.API, stop func()) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	srv := &http.Server{
		Handler:           handlerOf(api, stop),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve the control socket: %w", err)
	case <-ctx.Done():
	}
	cancel() // waits that are under way answer with what they have
	return shutdown(ctx, srv, done)
}

// patience is how long requests under way may take to end.
const patience = 2 * time.Second

func shutdown(ctx context.Context, srv *http.Server, done <-chan error) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := srv.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	<-done
	return err
}

// handler is an operation over HTTP; what it returns is the answer.
type handler func(r *http.Request) (any, error)

func handlerOf(api node.API, stop func()) http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle("POST "+r.path(), r.serve(api))
	}
	mux.Handle("POST "+aboutPath, handler(func(*http.Request) (any, error) {
		return About{PID: os.Getpid(), Version: version.String()}, nil
	}))
	mux.Handle("POST "+stopPath, handler(func(*http.Request) (any, error) { stop(); return none{}, nil }))
	mux.Handle("/", handler(func(r *http.Request) (any, error) {
		return nil, errs.New(errs.NotFound, "operation_unknown",
			"the running node (%s) knows no operation %s; restart it with this program: anet down, anet up", version.String(), r.URL.Path)
	}))
	return mux
}

const (
	aboutPath = "/v1/about"
	stopPath  = "/v1/stop"
)

func (o op[In, Out]) serve(api node.API) handler {
	return func(r *http.Request) (any, error) {
		var in In
		if err := decode(r.Body, &in); err != nil {
			return nil, err
		}
		return o.do(api, r.Context(), in)
	}
}

// decode is strict: a misspelt member must not do less than was asked for.
func decode(body io.Reader, v any) error {
	d := json.NewDecoder(io.LimitReader(body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errs.New(errs.Invalid, "body_invalid", "the request cannot be read").Because(err)
	}
	return nil
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := h(r)
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(wire.StatusOf(errs.KindOf(err)))
		out = problemOf(err)
	}
	// The client that went away is the only one who could read of a failure here.
	_ = json.NewEncoder(w).Encode(out)
}
