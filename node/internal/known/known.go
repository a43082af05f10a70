// Package known keeps the identities of other agents: their key histories and
// the keys to seal to.
//
// The one rule: an identity is stored for good only for whom wire 2, E.10
// names, the providers of this node's own tasks and the peers on its lists. A
// stranger's is kept on its task and in a bounded memory, so that strangers
// leave no trace of their own.
package known

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Bounds of the memory: replayed histories by their bytes, strangers by number.
const (
	replayBytes = 1 << 20
	strangers   = 512
	// A stranger with a very long history is not worth the memory.
	strangerBytes = 8 << 10
)

// Identity is an agent's history and its newest key set, signed, nil when none
// is known. The set was verified when it was taken in.
type Identity struct {
	KEL  []byte
	Keys []byte
}

// Book is what this process knows of others.
type Book struct {
	replays *identity.Cache

	mu     sync.Mutex
	recent *lru.LRU[string, Identity]
}

// NewBook begins with an empty memory; what is stored lies in the journal.
func NewBook() *Book {
	recent, err := lru.NewLRU[string, Identity](strangers, nil)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &Book{replays: identity.NewCache(replayBytes), recent: recent}
}

// Replay is identity.Replay, from memory where it can be.
func (b *Book) Replay(kel []byte) (*identity.History, error) { return b.replays.Replay(kel) }

// Of finds an agent's identity, stored or remembered; an empty one when it is
// not known.
func (b *Book) Of(tx *journal.Tx, aid string) (Identity, error) {
	p, found, err := tx.Peer(aid)
	if err != nil || found {
		return Identity{p.KEL, p.Keys}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id, _ := b.recent.Get(aid)
	return id, nil
}

// KELFork is the reason of a history that contradicts the one known.
const KELFork = "kel-fork"

// Resolve picks the history to judge a message by (E.10, step 6): the longer of
// the carried and the known one, where one continues the other.
func (b *Book) Resolve(id Identity, carried *identity.History) (*identity.History, error) {
	if len(id.KEL) == 0 {
		return carried, nil
	}
	relation, err := identity.Compare(carried.Raw(), id.KEL)
	if err != nil {
		return nil, err
	}
	switch relation {
	case identity.Equal, identity.Extends:
		return carried, nil
	case identity.Shorter:
		return b.Replay(id.KEL)
	}
	return nil, errs.New(errs.Invalid, KELFork, "the key history of %s contradicts the one known", carried.AID())
}

// NewerKeys gives the key set to keep after a message carried one: the known
// set, or the carried one where it verifies and is newer. The error tells why
// the carried one was not taken; it is advisory (E.10, step 8).
func NewerKeys(id Identity, h *identity.History, carried []byte, now time.Time) ([]byte, error) {
	s, err := enckeys.Parse(carried)
	if err != nil {
		return id.Keys, err
	}
	if err := s.VerifyUnder(h, h.AID(), now); err != nil {
		return id.Keys, err
	}
	var stored *enckeys.Signed
	if old, err := enckeys.Parse(id.Keys); err == nil {
		stored = &old
	}
	switch d := enckeys.Decide(stored, s); {
	case d.Refused():
		return id.Keys, envelope.BadKeySet.Errorf("the key set of %s is a %s", h.AID(), d)
	case d.Stores():
		return carried, nil
	}
	return id.Keys, nil
}

// Keep takes in what an accepted message proved. It is stored when the agent is
// on record already or when it belongs there, and remembered otherwise.
func (b *Book) Keep(tx *journal.Tx, aid string, id Identity, belongs bool) error {
	p, found, err := tx.Peer(aid)
	if err != nil {
		return err
	}
	if !found && !belongs {
		b.remember(aid, id)
		return nil
	}
	merged := Merge(Identity{p.KEL, p.Keys}, id)
	if found && string(merged.KEL) == string(p.KEL) && string(merged.Keys) == string(p.Keys) {
		return nil
	}
	p.AID, p.KEL, p.Keys = aid, merged.KEL, merged.Keys
	return tx.PutPeer(p)
}

// Merge never exchanges a history for anything but its own continuation, even
// if another message was taken in since this one was judged.
func Merge(old, id Identity) Identity {
	if len(old.KEL) == 0 {
		return id
	}
	if id.Keys == nil {
		id.Keys = old.Keys
	}
	switch relation, err := identity.Compare(id.KEL, old.KEL); {
	case err != nil || relation == identity.Forked:
		return old
	case relation == identity.Shorter:
		id.KEL = old.KEL
	}
	return id
}

func (b *Book) remember(aid string, id Identity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, _ := b.recent.Get(aid)
	if id = Merge(old, id); len(id.KEL)+len(id.Keys) <= strangerBytes {
		b.recent.Add(aid, id)
	}
}

// Key is the key to seal to for the agent, from a key set that still holds
// under the agent's history (E.9).
func (b *Book) Key(aid string, id Identity, now time.Time) (envelope.Key, error) {
	if id.Keys == nil {
		return envelope.Key{}, envelope.NoUsableKey.Errorf("no key of %s is known", aid)
	}
	s, err := enckeys.Verify(id.Keys, aid, id.KEL, b.Replay, now)
	if err != nil {
		return envelope.Key{}, err
	}
	k, err := enckeys.Choose(s.Set.Keys, now)
	if err != nil {
		return envelope.Key{}, err
	}
	return k.Recipient(), nil
}
