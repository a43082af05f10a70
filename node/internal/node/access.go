package node

import (
	"context"
	"slices"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// Peers shows the lists as they stand in the files.
func (n *Node) Peers(context.Context) (p Peers, err error) {
	for list, to := range map[peers.List]*[]string{peers.Allow: &p.Allow, peers.Trust: &p.Trust, peers.Deny: &p.Deny} {
		if *to, err = n.Lists.Members(list); err != nil {
			return Peers{}, err
		}
		if *to == nil {
			*to = []string{}
		}
	}
	return p, nil
}

// SetPeer moves an agent to a list. What a denied one still has open is
// cancelled (L.10).
func (n *Node) SetPeer(ctx context.Context, aid string, list List) error {
	switch list {
	case Allow, Trust, Deny:
	default:
		return invalid("list_unknown", "list", "%.40q is no list; choose allow, trust or deny", list)
	}
	if err := n.Lists.Put(aid, peers.List(list)); err != nil {
		return err
	}
	if list != Deny {
		return nil
	}
	return n.cancelAll(ctx, aid)
}

// RemovePeer takes an agent off every list.
func (n *Node) RemovePeer(_ context.Context, aid string) error {
	held, err := n.Lists.Remove(aid)
	if err == nil && len(held) == 0 {
		err = errs.New(errs.NotFound, "peer_unknown", "%s is on no list", aid)
	}
	return err
}

// cancelAll ends every open task with a peer that nothing was paid for. Its answers
// are dropped from now on, so this node's own tasks end here, whatever the peer
// says.
func (n *Node) cancelAll(ctx context.Context, aid string) error {
	var working []string
	err := n.Journal.Write(ctx, func(tx *journal.Tx) error {
		open, err := tx.OpenWith(aid)
		if err != nil {
			return err
		}
		for _, k := range open {
			moved, err := n.moved(tx, &k)
			if err != nil {
				return err
			}
			if moved {
				continue // it is owed, or has been paid for (L.10)
			}
			if k.Started && k.Role == journal.Provider {
				working = append(working, k.ID)
			}
			if err := n.part(tx, &k); err != nil {
				return err
			}
		}
		return nil
	})
	for _, id := range working {
		n.Dispatch.Cancel(id)
	}
	return err
}

// cancelDenied does the same for those who were denied while the node was down. A
// list that cannot be read denies everybody for now, and ends nothing for good.
func (n *Node) cancelDenied(ctx context.Context) error {
	denied, err := n.Lists.Members(peers.Deny)
	if err != nil || len(denied) == 0 {
		n.report("read who is denied", err)
		return nil
	}
	var open []string
	if err := n.Journal.Read(ctx, func(tx *journal.Tx) error { open, err = tx.OpenPeers(); return err }); err != nil {
		return err
	}
	for _, aid := range open {
		if !slices.Contains(denied, aid) {
			continue
		}
		if err := n.cancelAll(ctx, aid); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) part(tx *journal.Tx, k *journal.Task) error {
	if err := n.cancel(tx, k); err != nil || k.Role == journal.Provider {
		return err
	}
	k.To(task.Canceled, tx.Now())
	return tx.PutTask(k)
}

// moved reports whether money moved for a task, or may have.
func (n *Node) moved(tx *journal.Tx, k *journal.Task) (bool, error) {
	if k.Role == journal.Provider {
		return till.Holds(tx, k.ID)
	}
	return n.Wallet.Paying(tx, k.ID)
}

// Fill adds what the node is doing to a status.
func (n *Node) Fill(ctx context.Context, s *Status) error {
	mail := n.Mailbox.State()
	if !mail.LastPoll.IsZero() {
		s.LastPoll = &mail.LastPoll
	}
	s.PollError, s.Stopped, s.Waiting = mail.Error, mail.Stopped, mail.Waiting
	s.Running, s.Dropped = n.Dispatch.Running(), n.Dropped.All()
	return n.Journal.Read(ctx, func(tx *journal.Tx) error {
		depth, oldest, err := tx.OutboxDepth()
		if err != nil {
			return err
		}
		if s.Outbox = depth; depth > 0 {
			s.OldestOut = &oldest
		}
		if s.Open, err = tx.OpenCount(); err != nil {
			return err
		}
		s.Strangers, err = n.strangers(tx)
		return err
	})
}

func (n *Node) strangers(tx *journal.Tx) (*Strangers, error) {
	l, err := tx.StrangersLoad()
	if err != nil || l.Bytes == 0 && n.Parts.Policy() != config.Open {
		return nil, err
	}
	return &Strangers{Tasks: l.Tasks, MaxTasks: n.Parts.Strangers.MaxTasks, Bytes: l.Bytes, MaxBytes: n.Parts.Strangers.MaxBytes}, nil
}
