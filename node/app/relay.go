package app

import (
	"context"

	"github.com/anet-hub/anet/node/internal/home"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// relay is the hub as the mailbox and the outbox see it.
type relay struct {
	hub  *hubclient.Client // nil when no hub was joined
	home *home.Home
}

// Poll waits while the node has no hub, has left it, or is about to register.
func (r relay) Poll(ctx context.Context, p wire.Poll) (wire.Polled, error) {
	if err := r.home.Ready(ctx); err != nil {
		return wire.Polled{}, err
	}
	if err := r.home.Trusted(ctx); err != nil {
		return wire.Polled{}, err
	}
	return r.hub.Poll(ctx, p)
}

func (r relay) Ack(ctx context.Context, ids []int64) error {
	if err := r.home.Trusted(ctx); err != nil {
		return err
	}
	return r.hub.Ack(ctx, ids)
}

func (r relay) Send(ctx context.Context, to string, envelope []byte) (via string, mayHaveArrived bool, err error) {
	if r.hub == nil {
		return "", false, noHubYet()
	}
	if err := r.home.Trusted(ctx); err != nil {
		return "", false, err
	}
	sent, err := r.hub.Send(ctx, to, envelope)
	return sent.ViaHub, mayArrive(err), err
}

func (r relay) Review(ctx context.Context, receipt, review []byte) (mayBeTaken bool, err error) {
	if r.hub == nil {
		return false, noHubYet()
	}
	if err := r.home.Trusted(ctx); err != nil {
		return false, err
	}
	err = r.hub.Review(ctx, receipt, review)
	return mayArrive(err), err
}

func (r relay) Keys(ctx context.Context, aid string) (kel, keyset []byte, err error) {
	if r.hub == nil {
		return nil, nil, noHubYet()
	}
	if err := r.home.Trusted(ctx); err != nil {
		return nil, nil, err
	}
	k, err := r.hub.Keys(ctx, aid)
	return k.KEL, k.Keyset, err
}

// noHubYet is tried again: the node may join one, and the message is not lost.
func noHubYet() error {
	return errs.New(errs.Unavailable, "not_joined", "this node has not joined a hub; run: anet join URL")
}

// mayArrive reports whether a send that failed can have left its message: the
// connection was there, and no hub said that it took nothing.
func mayArrive(err error) bool {
	if err == nil || hubclient.CertainlyNotSent(err) {
		return false
	}
	switch errs.KindOf(err) {
	case errs.Internal, errs.BadGateway:
		return true
	}
	// An older wire is seen in the answer of a hub that took the message.
	return errs.Is(err, hubclient.ConnectionLost) || errs.Is(err, hubclient.WireTooOld)
}
