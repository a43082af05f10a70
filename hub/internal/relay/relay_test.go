package relay

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
)

// office is a relay over a store in memory.
type office struct {
	*Relay
	mem *memory
	reg *prometheus.Registry
}

// silent is a bus without other processes.
type silent struct{}

func (silent) Tell(context.Context, wake.News) error { return nil }

func (silent) Hear(ctx context.Context, ready func(), _ func(wake.News)) error {
	ready()
	<-ctx.Done()
	return ctx.Err()
}

func newOffice(l Limits, boxes ...string) *office {
	mem, reg, log := newMemory(boxes...), prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	return &office{New(Deps{
		Store: mem, Board: wake.NewBoard(nil, silent{}, log),
		Senders: admission.NewLimiter(20*60, 3, "send_rate", time.Now),
		Seen:    mem, Limits: l, Now: time.Now, Log: log, Metrics: reg,
	}), mem, reg}
}

var limits = Limits{Envelope: 1000, Messages: 5, Bytes: 1 << 20, Total: 1 << 20, PollBudget: 400, TTL: time.Hour, QuietAfter: time.Hour}

func proofOf(aid string) replay.Proof {
	p := replay.Proof{AID: aid, SignedAt: time.Now()}
	_, _ = rand.Read(p.Key[:])
	return p
}

// sealed is an envelope as a hub sees it, of about size bytes.
func sealed(to string, size int) []byte {
	return envelope.Outer{To: to, Suite: envelope.SuiteX25519, Enc: make([]byte, 32), CT: make([]byte, size)}.Bytes()
}

// mail is a request that was read.
func mail(to string, env []byte) func() (string, []byte, error) {
	return func() (string, []byte, error) { return to, env, nil }
}

func unreadable() (string, []byte, error) { return "", nil, io.EOF }

func (o *office) put(t *testing.T, to string, size int) int64 {
	t.Helper()
	q, err := o.mem.Enqueue(t.Context(), proofOf("anybody"), Mail{To: to, Envelope: make([]byte, size), At: o.Now()}, Limits{Messages: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return q.ID
}

func reasonOf(err error) string {
	if e := errs.As(err); e != nil {
		return e.Kind.String() + " " + e.Reason
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
