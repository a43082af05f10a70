package stage

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
)

// InnerHub is a hub inside the test process, on a database of its own: up in a
// moment, for stories that kill nothing.
type InnerHub struct {
	Hub
	Log      *Words
	Database string // URL
	stop     func() error
}

// HubInside starts one.
func HubInside(t testing.TB, change ...func(*app.Config)) *InnerHub {
	t.Helper()
	cfg := app.Defaults()
	cfg.Listen, cfg.DatabaseURL, cfg.RegisterBurst, cfg.LogLevel = "127.0.0.1:0", pgtest.URL(t), 10_000, "debug"
	for _, f := range change {
		f(&cfg)
	}
	h := &InnerHub{Log: &Words{}, Database: cfg.DatabaseURL}
	log, err := cfg.Logger(h.Log)
	Must(t, err)
	h.run(t, cfg, log)
	t.Cleanup(func() {
		if err := h.Stop(); err != nil {
			t.Errorf("the hub inside stopped badly: %v", err)
		}
		if t.Failed() {
			t.Logf("the end of the inner hub's log:\n%s", h.Log.End(4096))
		}
	})
	return h
}

func (h *InnerHub) run(t testing.TB, cfg app.Config, log *slog.Logger) {
	t.Helper()
	a, err := app.New(context.Background(), cfg, log, prometheus.NewRegistry())
	Must(t, err)
	h.Hub = Hub{URL: "http://" + a.Addr(), AID: a.AID()}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	h.stop = sync.OnceValue(func() error { cancel(); return <-ended })
}

// Stop stops it gracefully.
func (h *InnerHub) Stop() error { return h.stop() }

// Operate runs an operator command beside the hub.
func (h *InnerHub) Operate(t testing.TB, args ...string) Output {
	t.Helper()
	return Run(t, Patience, Command{
		Name: "anet-hub", Path: Binary(t, "anet-hub"), Args: args, Env: []string{app.EnvDatabaseURL + "=" + h.Database},
	})
}

// Words collects what a logger of the test process writes.
type Words struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *Words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

// String is all of it.
func (w *Words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// End is the last n bytes.
func (w *Words) End(n int) string {
	s := w.String()
	return s[max(0, len(s)-n):]
}
