package certs

import (
	"context"
	"log/slog"

	"golang.org/x/crypto/acme/autocert"

	"github.com/anet-hub/anet/shared/errs"
)

// cache is a Store as autocert wants it. Autocert lets some failures to store
// pass without a word, so they are told here.
type cache struct {
	store Store
	log   *slog.Logger
}

func (c cache) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := c.store.Load(ctx, name)
	if errs.KindOf(err) == errs.NotFound {
		return nil, autocert.ErrCacheMiss
	}
	return data, err
}

func (c cache) Put(ctx context.Context, name string, data []byte) error {
	err := c.store.Store(ctx, name, data)
	if err != nil {
		c.log.Error("a certificate, or what it takes to get one, could not be stored", "name", name, "error", err)
	}
	return err
}

func (c cache) Delete(ctx context.Context, name string) error { return c.store.Forget(ctx, name) }
