package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/anet-hub/anet/hub/internal/httpapi"
)

// faces are where a process is reached: at its API and, where it does TLS, at
// the port for those who begin without.
type faces struct {
	api, plain net.Listener // plain may be nil
	servers    []*http.Server
}

// off is the --listen-http of a hub that only TLS reaches.
const off = "off"

func (c *Config) listen() (f *faces, err error) {
	f = &faces{}
	if f.api, err = listen("--listen", c.Listen); err != nil {
		return nil, err
	}
	if len(c.Domains) == 0 || c.ListenHTTP == off {
		return f, nil
	}
	if f.plain, err = listen("--listen-http", c.ListenHTTP); err != nil {
		return nil, errors.Join(err, f.api.Close())
	}
	return f, nil
}

// close lets go of addresses that nothing was served on.
func (f *faces) close() error {
	err := f.api.Close()
	if f.plain != nil {
		err = errors.Join(err, f.plain.Close())
	}
	return err
}

// show puts the hub behind the addresses, and gives what runs.
func (f *faces) show(h *hub, log *slog.Logger) (run []func() error) {
	if h.keeper == nil {
		s := server(h.api, log)
		f.servers = append(f.servers, s)
		return append(run, func() error { return s.Serve(f.api) })
	}
	s := server(httpapi.Secure(h.api), log)
	s.TLSConfig = h.keeper.TLS()
	f.servers = append(f.servers, s)
	run = append(run, func() error { return s.ServeTLS(f.api, "", "") })
	if f.plain != nil {
		p := server(h.api.Plain(h.keeper.Challenge, h.secureHost), log)
		f.servers = append(f.servers, p)
		run = append(run, func() error { return p.Serve(f.plain) })
	}
	return run
}

// server has limits that end slow headers and idle connections, and none that
// would end a long poll: bodies and answers get their deadlines where they are
// read and written.
func server(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           linger(h),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	new(unasked).follow(s)
	return s
}

// hangUp lets requests come to their end, and cuts off those that do not.
func (f *faces) hangUp(ctx context.Context) (failed error) {
	for _, s := range f.servers {
		if err := s.Shutdown(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("requests were cut off: %w", err), s.Close())
		}
	}
	return failed
}
