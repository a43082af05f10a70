package directory

import (
	"context"
	"fmt"
	"time"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
)

// vettedKeys is a submitted key set after its verification.
type vettedKeys struct {
	raw []byte // empty when absent
	set enckeys.Signed
	err error
}

// vetKeys verifies a key set under the history it was submitted with (wire 2, D.2).
func (d *Directory) vetKeys(aid string, raw, kel []byte, now time.Time) vettedKeys {
	v := vettedKeys{raw: raw}
	if len(raw) > 0 {
		v.set, v.err = enckeys.Verify(raw, aid, kel, d.replay, now)
	}
	return v
}

// decide compares the set with the one on record (wire 2, D.3). The set it
// returns is to be stored, unless it is nil.
func (v vettedKeys) decide(stored []byte) (keyset []byte, status string, err error) {
	switch {
	case len(v.raw) == 0:
		return nil, statusAbsent, nil
	case v.err != nil:
		return nil, statusInvalid, errs.New(errs.Invalid, "keys_invalid", "%v", v.err).In("keyset")
	}
	var record *enckeys.Signed
	if len(stored) > 0 {
		s, err := enckeys.Parse(stored)
		if err != nil {
			return nil, "", fmt.Errorf("read the stored key set: %w", err)
		}
		record = &s
	}
	return v.against(record)
}

func (v vettedKeys) against(record *enckeys.Signed) (keyset []byte, status string, err error) {
	switch enckeys.Decide(record, v.set) {
	case enckeys.Replace:
		return v.raw, statusOK, nil
	case enckeys.Resigned:
		return v.raw, statusUnchanged, nil
	case enckeys.Unchanged:
		return nil, statusUnchanged, nil
	case enckeys.Rollback:
		return nil, statusConflict, errs.New(errs.Conflict, "keys_rollback",
			"key set %d is older than %d on record", v.set.Set.Seq, record.Set.Seq).In("keyset")
	default:
		return nil, statusConflict, errs.New(errs.Conflict, "keys_fork",
			"another key set has the sequence %d", v.set.Set.Seq).In("keyset")
	}
}

// until is when the set will no longer verify: the last key that serves now has
// ended then. Zero without a set.
func (v vettedKeys) until(now time.Time) time.Time {
	var last uint64
	soon := uint64(now.Add(envelope.MaxSkew).UnixMilli())
	for _, k := range v.set.Set.Keys {
		if k.NotBefore <= soon {
			last = max(last, k.NotAfter)
		}
	}
	if len(v.raw) == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(last)).Add(-envelope.MaxSkew)
}

// PutKeys publishes a key set. One that is invalid or contradicts the record
// fails here, where it is all that was asked for.
func (d *Directory) PutKeys(ctx context.Context, p replay.Proof, raw []byte) (status string, err error) {
	if len(raw) == 0 {
		return "", errs.New(errs.Invalid, "keyset_missing", "keyset is missing").In("keyset")
	}
	err = d.store.PutKeys(ctx, p, func(kel, stored []byte) (keyset []byte, err error) {
		keyset, status, err = d.vetKeys(p.AID, raw, kel, d.now()).decide(stored)
		return keyset, err
	})
	return status, err
}
