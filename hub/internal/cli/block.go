package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/plain"
)

func (p *Program) blockCommands() *cobra.Command {
	return cmdline.Group("block", "Refuse agents by their AID, here or not, and addresses",
		p.blockAdd(), p.blockList(), p.blockRemove())
}

func (p *Program) blockOf(t moderation.Target, by audit.By, within time.Duration) moderation.Block {
	b := moderation.Block{Target: t, Why: by.Why, At: p.Now().UTC().Truncate(time.Microsecond)}
	if within > 0 {
		b.Until = b.At.Add(within)
	}
	return b
}

func (p *Program) blockAdd() *cobra.Command {
	ends := span{zero: "never"}
	c := p.acting("add aid|host TARGET", "Refuse an AID, or an address or range", cmdline.Exactly("aid or host", "a target"), func(ctx context.Context, j *job) error {
		target, err := moderation.ParseTarget(j.args[0], j.args[1])
		if err != nil {
			return err
		}
		b := p.blockOf(target, j.by, ends.d)
		if err := j.Moderation.Block(ctx, b, j.by.Did("block.add", target.String(), b.At)); err != nil {
			return err
		}
		v := viewBlock(b)
		return p.show(v, func(w io.Writer) { fmt.Fprintf(w, "blocked\t%s %s\nuntil\t%s\n", v.Kind, v.Target, v.until()) })
	})
	c.Long = `Add refuses whatever the target asks for that is signed, registrations included,
from the moment it returns, at every process of the hub. An AID may be one that was
never here. A host is an address or a range; IPv4 within IPv6 is IPv4, and less than
a /64 of IPv6 is its /64, which is what one client has. Behind a proxy the hub must
know the client's address: see --trusted-proxy and --proxy-header of serve.`
	c.Flags().Var(&ends, "expires", "how long: 7d, 12h, or never")
	return cmdline.Example(c, "anet-hub block add host 203.0.113.0/24 --reason 'a flood' --expires 7d",
		"anet-hub block add aid AID --reason 'known from elsewhere'")
}

func (p *Program) blockList() *cobra.Command {
	c := p.looking("list", "List the blocks in force, the newest first", cmdline.None, func(ctx context.Context, j *job) error {
		list, err := j.Moderation.Blocks(ctx, p.Now())
		if err != nil {
			return err
		}
		return p.showBlocks(list)
	})
	return cmdline.Example(c, "anet-hub block list", "anet-hub block list --json")
}

func (p *Program) blockRemove() *cobra.Command {
	c := p.acting("remove aid|host TARGET", "Lift a block; all is as it was", cmdline.Exactly("aid or host", "a target"), func(ctx context.Context, j *job) error {
		target, err := moderation.ParseTarget(j.args[0], j.args[1])
		if err != nil {
			return err
		}
		if err := j.Moderation.Unblock(ctx, target, j.by.Did("block.remove", target.String(), p.Now())); err != nil {
			return err
		}
		return p.show(map[string]string{"kind": target.Kind(), "target": target.String(), "status": "unblocked"},
			func(w io.Writer) { fmt.Fprintf(w, "unblocked\t%s %s\n", target.Kind(), target) })
	})
	return cmdline.Example(c, "anet-hub block remove host 203.0.113.0/24", "anet-hub block remove aid AID --reason 'it was another'")
}

// blockView is a block as --json prints it.
type blockView struct {
	Kind      string     `json:"kind"`
	Target    string     `json:"target"`
	Reason    string     `json:"reason"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"` // null: never
}

func viewBlock(b moderation.Block) blockView {
	return blockView{b.Kind(), b.String(), b.Why, b.At.UTC(), orNull(b.Until)}
}

func (v blockView) until() string {
	if v.ExpiresAt == nil {
		return "lifted"
	}
	return when(*v.ExpiresAt)
}

func (p *Program) showBlocks(list []moderation.Block) error {
	views := make([]blockView, len(list))
	for i, b := range list {
		views[i] = viewBlock(b)
	}
	return p.show(map[string]any{"blocks": views}, func(w io.Writer) {
		fmt.Fprintln(w, "KIND\tTARGET\tSINCE\tUNTIL\tREASON")
		for _, v := range views {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", v.Kind, v.Target, when(v.CreatedAt), v.until(), plain.Line(orDash(v.Reason)))
		}
	})
}
