package known

import (
	"context"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
)

// Recheck is how old a stored key set may be before the hub is asked again (E.9).
const Recheck = 10 * time.Minute

// Directory is what a look-up asks of a hub. The answer is its word and no
// proof. NotFound means that the agent has no keys there.
type Directory interface {
	Keys(ctx context.Context, aid string) (kel, keyset []byte, err error)
}

// Finder finds the identity of somebody this node is about to write to.
type Finder struct {
	Book      *Book
	Journal   *journal.Journal
	Directory Directory
	Now       func() time.Time
}

// recheckWait bounds a look-up that is not needed.
const recheckWait = 3 * time.Second

// Find gives an identity with a usable key: the stored one, looked up anew when
// it is old or does not do. Failing to refresh one that does is no failure. What
// was found is stored when it belongs there: for the provider of an own task.
func (f Finder) Find(ctx context.Context, aid string, belongs bool) (Identity, error) {
	old, checked, err := f.present(ctx, aid)
	if err != nil {
		return Identity{}, err
	}
	_, unusable := f.Book.Key(aid, old, f.Now())
	if unusable == nil && f.Now().Sub(checked) < Recheck {
		return old, nil
	}
	if unusable == nil {
		short, cancel := context.WithTimeout(ctx, recheckWait)
		defer cancel()
		ctx = short
	}
	found, err := f.lookUp(ctx, aid, old)
	switch {
	case err != nil && unusable == nil:
		return old, nil
	case err != nil:
		return Identity{}, err
	}
	return found, f.store(ctx, aid, found, belongs)
}

// present is what is known, and when the hub was asked for it.
func (f Finder) present(ctx context.Context, aid string) (id Identity, checked time.Time, err error) {
	err = f.Journal.Read(ctx, func(tx *journal.Tx) error {
		p, _, err := tx.Peer(aid)
		if err != nil {
			return err
		}
		checked = p.Checked
		id, err = f.Book.Of(tx, aid)
		return err
	})
	return id, checked, err
}

// lookUp asks the hub and takes only what proves itself: a history of exactly
// this agent that continues the known one, and a set signed under it.
func (f Finder) lookUp(ctx context.Context, aid string, old Identity) (Identity, error) {
	kel, keyset, err := f.Directory.Keys(ctx, aid)
	if err != nil {
		return Identity{}, err
	}
	h, err := f.Book.Replay(kel)
	if err != nil || h.AID() != aid {
		return Identity{}, lies(aid, "shows another key history").Because(err)
	}
	if h, err = f.Book.Resolve(old, h); err != nil {
		return Identity{}, lies(aid, "shows a key history that contradicts the known one").Because(err)
	}
	keys, err := NewerKeys(old, h, keyset, f.Now())
	if err != nil {
		return Identity{}, lies(aid, "shows a key set that does not hold").Because(err)
	}
	id := Identity{h.Raw(), keys}
	if _, err := f.Book.Key(aid, id, f.Now()); err != nil {
		return Identity{}, errs.New(errs.Unavailable, "keys_not_current",
			"the keys of %s that the hub has are out of date; its node has not been up for a while", aid).Because(err)
	}
	return id, nil
}

// lies is for a hub that answered with what cannot be true. Another answer may
// come later, so it is not the end of a message.
func lies(aid, what string) *errs.Error {
	return errs.New(errs.BadGateway, "keys_not_verified", "the hub asked for the keys of %s %s", aid, what)
}

func (f Finder) store(ctx context.Context, aid string, id Identity, belongs bool) error {
	return f.Journal.WriteSoon(ctx, func(tx *journal.Tx) error {
		if err := f.Book.Keep(tx, aid, id, belongs); err != nil {
			return err
		}
		return tx.CheckedPeer(aid, f.Now())
	})
}
