package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/peers"
)

// filed is a peer as it stands in the table, with its position.
type filed struct {
	peers.Peer
	position int
}

// same reports whether the file says nothing new of a peer.
func (f filed) same(e peers.Entry, position int) bool {
	return f.FromFile && f.position == position && f.Endpoint == e.Endpoint && f.Name == e.Name &&
		f.Delivery == e.Delivery && f.Discovery == e.Discovery
}

// Sync makes the peers of the file those that the table says are of the file, in
// the file's order and before all others. An AID that was entered by command is
// the file's from then on; a pause and a pinned history stay. It gives how many
// rows it changed. Processes that start at once do so one after the other.
func (s *Peers) Sync(ctx context.Context, list []peers.Entry, by audit.Act) (changed int, err error) {
	if err := s.forgetUnfiled(ctx, list, by); err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE peer IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return fmt.Errorf("lock the peers: %w", err)
		}
		rows, err := tx.Query(ctx, `SELECT `+peerColumns+`, p.position FROM peer p`)
		if err != nil {
			return fmt.Errorf("read the peers: %w", err)
		}
		held, err := pgx.CollectRows(rows, toFiled)
		if err != nil {
			return err
		}
		changed, err = filing{ctx, tx, held, list, by}.run()
		return err
	})
	return changed, err
}

// forgetUnfiled forgets what peers taught that are about to be removed.
func (s *Peers) forgetUnfiled(ctx context.Context, list []peers.Entry, by audit.Act) error {
	stay := []string{}
	for _, e := range list {
		stay = append(stay, e.AID)
	}
	rows, err := s.pool.Query(ctx, `SELECT id FROM peer WHERE from_file AND aid <> ALL (@stay)`, pgx.NamedArgs{"stay": stay})
	if err != nil {
		return fmt.Errorf("read the peers: %w", err)
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range gone {
		if err := forget(ctx, s.pool, id, by.At); err != nil {
			return err
		}
	}
	return err
}

func toFiled(r pgx.CollectableRow) (f filed, err error) {
	f.Peer, err = toPeer(r, &f.position)
	return f, err
}

// filing is one comparison of table and file, in its transaction.
type filing struct {
	ctx  context.Context
	tx   pgx.Tx
	held []filed
	list []peers.Entry
	by   audit.Act
}

func (s filing) run() (changed int, err error) {
	gone, moved, fresh, err := s.compare()
	if err != nil {
		return 0, err
	}
	for _, f := range gone {
		if err := s.remove(f); err != nil {
			return 0, err
		}
	}
	if err := s.clear(moved); err != nil {
		return 0, err
	}
	for _, f := range append(moved, fresh...) {
		if err := s.put(f); err != nil {
			return 0, err
		}
	}
	return len(gone) + len(moved) + len(fresh), nil
}

// remove takes out who is gone from the file, which is the word on that whatever is owed.
func (s filing) remove(f filed) error {
	act, err := parting(s.ctx, s.tx, f.ID, true, s.act("peer.remove", f.Peer))
	if err != nil {
		return err
	}
	if _, err := s.tx.Exec(s.ctx, `DELETE FROM peer WHERE id = $1`, f.ID); err != nil {
		return fmt.Errorf("remove a peer: %w", err)
	}
	return note(s.ctx, s.tx, act)
}

// compare gives what has to go, to be changed and to be added.
func (s filing) compare() (gone, moved, fresh []filed, err error) {
	byAID := map[string]filed{}
	for _, f := range s.held {
		byAID[f.AID] = f
	}
	for i, e := range s.list {
		at := i - len(s.list) // before every other, whose positions begin with 1
		was, known := byAID[e.AID]
		delete(byAID, e.AID)
		to := filed{e.Peer, at}
		to.ID, to.Paused = was.ID, was.Paused
		switch {
		case !known:
			fresh = append(fresh, to)
		case !was.same(e, at):
			moved = append(moved, to)
		}
	}
	for _, f := range byAID {
		if f.FromFile {
			gone = append(gone, f)
		} else if err := s.leaves(f.Peer); err != nil {
			return nil, nil, nil, err
		}
	}
	return gone, moved, fresh, nil
}

// leaves fails where the file wants what a peer entered by command has.
func (s filing) leaves(p peers.Peer) error {
	for _, e := range s.list {
		switch {
		case e.Endpoint == p.Endpoint:
			return e.Fault(peers.EndpointTaken(p))
		case e.Name == p.Name:
			return e.Fault(peers.NameTaken(p.Name))
		}
	}
	return nil
}

// clear lets peers swap names and addresses: none has one while they get theirs.
func (s filing) clear(moved []filed) error {
	ids := make([]int64, len(moved))
	for i, f := range moved {
		ids[i] = f.ID
	}
	_, err := s.tx.Exec(s.ctx, `UPDATE peer SET endpoint = '~' || id, name = '~' || id WHERE id = ANY ($1)`, ids)
	return found(err, nil, "make room for peers")
}

func (s filing) put(f filed) error {
	if f.ID == 0 {
		if err := addPeer(s.ctx, s.tx, f.Peer, &f.position, s.by.At); err != nil {
			return err
		}
		return note(s.ctx, s.tx, s.act("peer.add", f.Peer))
	}
	if err := changePeer(s.ctx, s.tx, f.Peer, s.by.At); err != nil {
		return err
	}
	if _, err := s.tx.Exec(s.ctx, `UPDATE peer SET position = $2 WHERE id = $1`, f.ID, f.position); err != nil {
		return fmt.Errorf("move a peer: %w", err)
	}
	return note(s.ctx, s.tx, s.act("peer.set", f.Peer))
}

func (s filing) act(what string, p peers.Peer) audit.Act {
	return s.by.Did(what, p.AID, s.by.At).With("endpoint", p.Endpoint).With("name", p.Name).With("delivery", p.Delivery).With("discovery", p.Discovery)
}
