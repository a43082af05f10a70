package bench

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/httpapi"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Face says what a hub without a database answers: GET /agents with Agents, a
// poll with Mail, to whom it knows the key histories of. It checks signatures
// and envelopes like any hub.
type Face struct {
	Agents []byte
	Mail   []byte
	KELs   map[string][]byte
}

const plenty = 1 << 40

// Handler serves the face under an identity of its own.
func (f Face) Handler() (http.Handler, error) {
	key, err := identity.NewController(rand.Reader, time.Now())
	if err != nil {
		return nil, err
	}
	reg, log := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	rules := relay.New(relay.Deps{
		Store: f, Board: wake.NewBoard(f, nil, log), Seen: f, Now: time.Now, Log: log, Metrics: reg,
		Senders: admission.NewLimiter(plenty, plenty, "send_rate", time.Now),
		Limits:  relay.Limits{Envelope: 1 << 20, Messages: plenty, Bytes: plenty, Total: plenty, PollBudget: plenty, TTL: time.Hour, QuietAfter: time.Hour},
	})
	return httpapi.New(httpapi.Deps{
		Signers: f, Key: own{key}, Replays: identity.NewCache(64 << 20), Budget: budget.New(512 << 20),
		Log: log, Metrics: reg, Gather: reg, Now: time.Now,
	}, httpapi.Constant{Path: "/agents", Body: f.Agents}, &httpapi.Mail{Relay: rules}), nil
}

type own struct{ key *identity.Controller }

func (o own) Current() *identity.Controller { return o.key }

// SignerKEL implements httpapi.Signers.
func (f Face) SignerKEL(_ context.Context, v moderation.Visitor) ([]byte, error) {
	kel, found := f.KELs[v.AID]
	if !found {
		return nil, errs.New(errs.NotFound, "agent_unknown", "no agent with this AID is known here")
	}
	return kel, nil
}

// What follows is a relay.Store that keeps nothing and always has the one
// message.

func (f Face) Enqueue(_ context.Context, _ replay.Proof, m relay.Mail, _ relay.Limits) (relay.Queued, error) {
	return relay.Queued{ID: 1, LastSeen: m.At}, nil
}

func (f Face) Poll(ctx context.Context, _ replay.Proof, l relay.Look) ([]relay.Message, error) {
	return f.Look(ctx, l)
}

func (f Face) Look(context.Context, relay.Look) ([]relay.Message, error) {
	return []relay.Message{{ID: 1, Size: int64(len(f.Mail)), Envelope: f.Mail}}, nil
}

func (f Face) Fetch(ctx context.Context, _ string, _ []int64) ([]relay.Message, error) {
	return f.Look(ctx, relay.Look{})
}

func (f Face) Ack(_ context.Context, _ replay.Proof, ids []int64) (n, bytes int64, err error) {
	return int64(len(ids)), 0, nil
}

func (f Face) Expire(context.Context, time.Time) (n, bytes int64, err error) { return 0, 0, nil }

func (f Face) Totals(context.Context) (relay.Totals, error) { return relay.Totals{}, nil }

func (f Face) WithMail(context.Context, []wake.Place) ([]string, error) { return nil, nil }

func (f Face) Seen(string, time.Time) {}
