package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/cmdline"
)

func (p *Program) peerRemove() *cobra.Command {
	var agreed consent
	leaveDebt := false
	c := p.ofPeer(p.acting, "remove", "Take a peer out, with all that was learned from it", func(ctx context.Context, j *job, s peers.Standing) error {
		v, err := p.viewRemoval(ctx, j, s)
		if err != nil {
			return err
		}
		if v.inDebt() && !leaveDebt && !agreed.dryRun {
			return peers.InDebt(s.Name, v.Owed, v.Due)
		}
		goOn, err := p.agreed(ctx, agreed, v, v.text, v.question())
		if err != nil || !goOn {
			return err
		}
		if err := j.Peers.Remove(ctx, s, leaveDebt, j.by); err != nil {
			return err
		}
		return p.show(v.done("removed"), func(w io.Writer) { fmt.Fprintf(w, "removed\t%s %s\n", s.Name, s.AID) })
	})
	agreed.flags(c)
	c.Flags().BoolVar(&leaveDebt, "leave-debt", false, "take it out though credits are owed: nobody can clear them before it is a peer again")
	c.Long = `Remove forgets the peer and what it taught: its agents leave the lists, and nothing
goes to or from it; payments across with it end, and have to be allowed again for one
that comes back. What keeps an older card from coming back stays. To stop it for a
while, pause it.

Credits that the peer owes this hub, or is owed, can be cleared with a peer alone, so
one in debt is not taken out unless told --leave-debt. They stay in the books then,
and anet-hub credit due goes on showing them.`
	return cmdline.Example(c, "anet-hub peer remove NAME --dry-run", "anet-hub peer remove NAME --reason 'its hub is gone'")
}

// removalView is a peer with what goes when it is taken out, and what stays behind.
type removalView struct {
	peerView
	Entries int64  `json:"entries"` // learned from it
	Owed    uint64 `json:"owed"`    // by it
	Due     uint64 `json:"due"`     // to it
}

func (p *Program) viewRemoval(ctx context.Context, j *job, s peers.Standing) (v removalView, err error) {
	if s.FromFile {
		return v, peers.InFile(s.Peer)
	}
	streams, err := j.Peers.Progress(ctx, s.ID)
	if err != nil {
		return v, err
	}
	v.peerView = p.viewPeer(s)
	for _, s := range streams {
		v.Entries += s.Entries
	}
	d, err := j.Credits.Debt(ctx, s.AID)
	v.Owed, v.Due = d.Owed, d.Due
	return v, err
}

func (v removalView) inDebt() bool { return v.Owed > 0 || v.Due > 0 }

func (v removalView) question() string {
	q := fmt.Sprintf("Take out the peer %s, and the %d entries learned from it?", v.Name, v.Entries)
	if v.inDebt() {
		q += " What is owed stays owed, and nobody can clear it before that hub is a peer again."
	}
	return q
}

func (v removalView) text(w io.Writer) {
	v.offer(w)
	fmt.Fprintf(w, "learned\t%d entries\nit owes\t%d\nwe owe\t%d\n", v.Entries, v.Owed, v.Due)
	if v.inDebt() {
		fmt.Fprintln(w, "in debt\ttaken out with --leave-debt only: see anet-hub credit due")
	}
}
