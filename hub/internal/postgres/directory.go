package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
)

// Directory keeps registrations and everything that hangs on them
// (directory.Store). Whatever changes a registration locks its member row
// first, so changes of one AID happen one after the other.
type Directory struct {
	pool   *pgxpool.Pool
	proofs proofs
	marks  marks
}

// proofs uses up signed requests (see Replay).
type proofs interface {
	Once(ctx context.Context, p replay.Proof, effect func(pgx.Tx) error) error
	OnceInTwo(ctx context.Context, p replay.Proof, ask func(*pgx.Batch), effect effect) error
	Remember(ctx context.Context, p replay.Proof) error
	try(s statement, p replay.Proof, run func(named, pgx.NamedArgs) (fresh bool, err error)) (fresh bool, err error)
}

// NewDirectory makes the store.
func NewDirectory(pool *pgxpool.Pool, proofs proofs) *Directory {
	return &Directory{pool: pool, proofs: proofs, marks: newMarks()}
}

// Marked tells that something changed here that peers are to be told.
func (s *Directory) Marked() <-chan struct{} { return s.marks }

// Remember implements directory.Store.
func (s *Directory) Remember(ctx context.Context, p replay.Proof) error {
	return s.proofs.Remember(ctx, p)
}

func errAgentUnknown() error {
	return errs.New(errs.NotFound, "agent_unknown", "no agent with this AID is registered here")
}

// found turns a missing row into the failure it stands for and names what was
// being done in any other.
func found(err error, missing error, doing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return missing
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}
