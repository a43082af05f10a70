package postgres

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/replay"
)

// recallSQL begins with what is on record of the last registration, and uses the
// proof up only where that is the one that is repeated: a registration, departure
// or change of the profile at another process counts from its commit on. The
// history needs no look of its own, as it changes with the body it came in.
var recallSQL = statement{
	usual: texts{bare: recall(` SELECT ` + soon + `, answered FROM once, last`)},
	ahead: texts{bare: recall(alsoAhead + ` SELECT '', answered FROM once, last`)},
}

func recall(rest string) named {
	const last = `WITH last AS (
		SELECT answered FROM agent
		WHERE aid = @signer AND body_hash = @body AND (body_until IS NULL OR body_until > @now)), `
	return compile(last + onceFrom + `, last` + onceWhere + onceEnd + rest)
}

// Recall implements directory.Store.
func (s *Directory) Recall(ctx context.Context, p replay.Proof, body directory.BodyHash, now time.Time) (answer []byte, err error) {
	_, err = s.proofs.try(recallSQL, p, func(sql named, args pgx.NamedArgs) (bool, error) {
		maps.Copy(args, pgx.NamedArgs{"body": body[:], "now": now})
		err := s.pool.QueryRow(ctx, sql.sql, sql.bind(args)...).Scan(nil, &answer)
		if errors.Is(err, pgx.ErrNoRows) {
			return false, nil
		}
		return err == nil, err
	})
	return answer, found(err, nil, "repeat a registration")
}
