package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/plain"
)

func (p *Program) agentCommands() *cobra.Command {
	return cmdline.Group("agent", "Show agents of this hub; hide, block or remove one, and take that back",
		p.agentList(), p.agentShow(),
		p.agentActs("hide", "Take an agent out of every list; it works as before", "hidden",
			func(j *job) func(context.Context, audit.Act) error { return j.Moderation.Hide }),
		p.agentActs("unhide", "List a hidden agent again, as it was", "unhidden",
			func(j *job) func(context.Context, audit.Act) error { return j.Moderation.Unhide }),
		p.agentBlock(), p.agentUnblock(), p.agentRemove())
}

func (p *Program) agentList() *cobra.Command {
	q := moderation.Question{Limit: 100}
	only := ""
	c := p.looking("list", "List the agents that are or were here, in the order of AIDs", cmdline.None, func(ctx context.Context, j *job) (err error) {
		q.At, q.Only = p.Now(), moderation.Only(only)
		if only != "" && !slices.Contains(moderation.Onlys, q.Only) {
			return cmdline.WrongUse("--only takes one of %s", onlys())
		}
		if q.Limit < 1 {
			return cmdline.WrongUse("--limit is at least 1")
		}
		if q.After != "" {
			if q.After, err = moderation.ParseAID(q.After); err != nil {
				return err
			}
		}
		list, err := j.Moderation.Agents(ctx, q)
		if err != nil {
			return err
		}
		return p.showAgents(list, len(list) == q.Limit)
	})
	c.Flags().StringVar(&only, "only", "", "only those that are "+onlys())
	c.Flags().IntVar(&q.Limit, "limit", q.Limit, "agents at most")
	c.Flags().StringVar(&q.After, "after", "", "go on behind this AID, the last of the page before")
	return cmdline.Example(c, "anet-hub agent list", "anet-hub agent list --only blocked --json")
}

func onlys() string {
	var words []string
	for _, o := range moderation.Onlys {
		words = append(words, string(o))
	}
	return strings.Join(words, ", ")
}

// agentID makes a command of one agent; its AID is read in any spelling.
func (p *Program) agentID(act maker, name, short string, do func(ctx context.Context, j *job, aid string) error) *cobra.Command {
	c := act(name+" AID", short, cmdline.Exactly("an AID"), func(ctx context.Context, j *job) error {
		aid, err := moderation.ParseAID(j.args[0])
		if err != nil {
			return err
		}
		return do(ctx, j, aid)
	})
	return p.completing(cmdline.Example(c, "anet-hub agent "+name+" AID"), agentIDs)
}

func (p *Program) agentShow() *cobra.Command {
	return p.agentID(p.looking, "show", "Show how an agent stands with this hub", func(ctx context.Context, j *job, aid string) error {
		s, err := j.Moderation.Agent(ctx, aid, p.Now())
		if err != nil {
			return err
		}
		v := viewAgent(s)
		return p.show(v, v.text)
	})
}

func (p *Program) agentActs(name, short, done string, act func(*job) func(context.Context, audit.Act) error) *cobra.Command {
	return p.agentID(p.acting, name, short, func(ctx context.Context, j *job, aid string) error {
		if err := act(j)(ctx, j.by.Did("agent."+name, aid, p.Now())); err != nil {
			return err
		}
		return p.showDone(aid, done)
	})
}

func (p *Program) showDone(aid, done string) error {
	return p.show(map[string]string{"aid": aid, "status": done}, func(w io.Writer) { fmt.Fprintf(w, "%s\t%s\n", done, aid) })
}

func (p *Program) agentBlock() *cobra.Command {
	ends := span{zero: "never"}
	c := p.agentID(p.acting, "block", "Refuse all an agent asks for, and list it nowhere; nothing of it is lost", func(ctx context.Context, j *job, aid string) error {
		b := p.blockOf(moderation.Target{AID: aid}, j.by, ends.d)
		if err := j.Moderation.BlockMember(ctx, b, j.by.Did("block.add", aid, b.At)); err != nil {
			return err
		}
		return p.showDone(aid, "blocked")
	})
	c.Long = `Block refuses whatever the agent asks for from the moment it returns, at every
process of the hub, also when it registers again. Lists leave it out and it gets no
mail; what it has stays until the block ends. For an AID that was never here, and
for addresses, see anet-hub block.`
	c.Flags().Var(&ends, "expires", "how long: 7d, 12h, or never")
	return cmdline.Example(c, "anet-hub agent block AID --reason 'sends junk' --expires 7d")
}

func (p *Program) agentUnblock() *cobra.Command {
	return p.agentID(p.acting, "unblock", "Lift the block of an agent; all is as it was", func(ctx context.Context, j *job, aid string) error {
		if err := j.Moderation.Unblock(ctx, moderation.Target{AID: aid}, j.by.Did("block.remove", aid, p.Now())); err != nil {
			return err
		}
		return p.showDone(aid, "unblocked")
	})
}

func (p *Program) agentRemove() *cobra.Command {
	var agreed consent
	c := p.agentID(p.acting, "remove", "End the registration of an agent, its waiting mail included", func(ctx context.Context, j *job, aid string) error {
		s, err := j.Moderation.Agent(ctx, aid, p.Now())
		if err != nil {
			return err
		}
		if !s.Registered {
			return moderation.NotRegistered()
		}
		plan := removal{viewAgent(s)}
		goOn, err := p.agreed(ctx, agreed, plan, plan.text, plan.question())
		if err != nil || !goOn {
			return err
		}
		n, err := j.Moderation.Remove(ctx, j.by.Did("agent.remove", aid, p.Now()))
		if err != nil {
			return err
		}
		return p.show(map[string]any{"aid": aid, "status": "removed", "undelivered": n}, func(w io.Writer) {
			fmt.Fprintf(w, "removed\t%s\nmessages deleted\t%d\n", aid, n)
		})
	})
	agreed.flags(c)
	c.Long = `Remove does what the agent itself does by leaving: registration, cards, keys and
waiting mail are deleted; the key history stays, and what others signed about it.
It may register again; to keep it out, block it.`
	return cmdline.Example(c, "anet-hub agent remove AID --dry-run", "anet-hub agent remove AID --reason 'asked by its owner'")
}

// agentIDs are the ids a shell offers.
func agentIDs(ctx context.Context, op *app.Operator) (ids []string) {
	list, _ := op.Moderation.Agents(ctx, moderation.Question{Limit: 50, At: time.Now()}) // a hub that cannot be asked offers nothing
	for _, s := range list {
		ids = append(ids, cobra.CompletionWithDesc(s.AID, plain.Line(s.Name)))
	}
	return ids
}
