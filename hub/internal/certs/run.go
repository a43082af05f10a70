package certs

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	asking   = 6 * time.Minute // autocert gives an attempt five
	lookSoon = time.Second     // while another process asks
	lookLate = time.Hour       // after renewals, which autocert does by itself
)

// pauses follow failed attempts. An attempt tries two challenges, and Let's
// Encrypt takes five failures of a name an hour.
var pauses = []time.Duration{2 * time.Minute, 10 * time.Minute, 30 * time.Minute}

// Run obtains what is missing, and watches over renewals, until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	defer k.endTurn(ctx)
	failures := 0
	for {
		wait := lookLate
		missing, err := k.look(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			k.Log.Warn("certificates could not be looked up", "error", err)
			wait = 5 * time.Second
		case missing != "":
			wait = k.obtain(ctx, missing, &failures)
		}
		if err == nil && (missing == "" || failures > 0) {
			k.tried()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(min(wait, k.untilWatch())):
		}
	}
}

// untilWatch is when a renewal should have been seen: certificates that live for
// days only are looked after more often.
func (k *Keeper) untilWatch() time.Duration {
	wait := lookLate
	for _, name := range k.Names {
		if leaf := k.leaf(name); leaf != nil {
			wait = min(wait, leaf.NotAfter.Sub(leaf.NotBefore)/20)
		}
	}
	return max(wait, lookSoon)
}

func (k *Keeper) endTurn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = k.Store.EndTurn(ctx, k.who) // else it ends by itself
}

// look takes up what is kept, and gives the first name that nothing is kept of.
func (k *Keeper) look(ctx context.Context) (missing string, err error) {
	for _, name := range k.Names {
		kept, err := k.kept(ctx, name)
		if err != nil {
			return "", err
		}
		before := k.leaf(name)
		switch {
		case kept != nil && !kept.Equal(before):
			k.serve(name, kept)
		case before != nil:
			k.watch(name, before)
		case missing == "":
			missing = name
		}
	}
	return missing, nil
}

// kept is the certificate in the store that is good for a name, if any.
func (k *Keeper) kept(ctx context.Context, name string) (*x509.Certificate, error) {
	data, err := k.Store.Load(ctx, name)
	if errs.KindOf(err) == errs.NotFound {
		return nil, nil
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		leaf, bad := x509.ParseCertificate(block.Bytes)
		if bad != nil || leaf.VerifyHostname(name) != nil || k.Now().After(leaf.NotAfter) {
			return nil, err
		}
		return leaf, err
	}
	return nil, err
}

// watch tells of a certificate that should have been renewed: autocert begins
// when a third of its life is left, and keeps its failures to itself.
func (k *Keeper) watch(name string, leaf *x509.Certificate) {
	left := leaf.NotAfter.Sub(k.Now())
	if left > leaf.NotAfter.Sub(leaf.NotBefore)/4 {
		return
	}
	said := k.heard.last()
	k.Log.Error("a certificate is not renewed", "domain", name, "not_after", leaf.NotAfter,
		"left", left.Round(time.Second).String(), "error", said.String(), "next", said.advice(name))
}

// obtain asks for a certificate if it is this process's turn, and says when to
// look again.
func (k *Keeper) obtain(ctx context.Context, name string, failures *int) time.Duration {
	mine, err := k.Store.TakeTurn(ctx, k.who, k.Now().Add(asking))
	if err != nil || !mine {
		return lookSoon
	}
	if kept, err := k.kept(ctx, name); kept != nil || err != nil {
		return 0 // another process was first
	}
	k.Log.Info("asking for a certificate", "domain", name, "directory", k.Directory)
	k.heard.forget()
	got, err := k.ask(name)
	if err == nil {
		k.serve(name, got.Leaf)
		*failures = 0
		k.endTurn(ctx)
		return 0
	}
	pause := pauses[min(*failures, len(pauses)-1)]
	*failures++
	k.complain(name, err, pause)
	// The turn is kept through the pause: another process would fail at once.
	_, _ = k.Store.TakeTurn(ctx, k.who, k.Now().Add(pause+asking))
	return pause
}

func (k *Keeper) complain(name string, err error, pause time.Duration) {
	said := k.heard.last()
	if said == (complaint{}) {
		said = complaint{detail: err.Error()}
	}
	k.Log.Error("no certificate was obtained", "domain", name, "error", said.String(), "next", said.advice(name),
		"again_at", k.Now().Add(pause).UTC().Format(time.RFC3339), "sooner", "restart the hub")
}
