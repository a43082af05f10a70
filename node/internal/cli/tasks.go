package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/task"
)

func (p *Program) taskCommand() *cobra.Command {
	return group("task", "Show tasks", p.taskGetCommand(), p.taskListCommand())
}

func (p *Program) taskGetCommand() *cobra.Command {
	var wait time.Duration
	c := command("get TASK [--wait DUR]", "Show a task and its result", exactly("a task id"),
		func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("wait") && wait <= 0 {
				return wrongUse("--wait takes a time such as 30s")
			}
			return p.ask(func(api node.API) error { return p.getTask(cmd.Context(), api, args[0], wait) })
		})
	c.Flags().DurationVar(&wait, "wait", 0, "wait this long for its end; the exit code then says how it ended")
	c.ValidArgsFunction = p.completeTasks(node.Query{})
	exiting(c, ends...)
	return example(c, "anet task get TASK", "anet task get TASK --wait 5m --json")
}

func (p *Program) getTask(ctx context.Context, api node.API, id string, wait time.Duration) error {
	t, err := api.Task(ctx, id)
	switch {
	case err != nil:
		return err
	case wait == 0:
		return p.showTask(t)
	}
	return p.follow(ctx, api, t, wait)
}

func (p *Program) taskListCommand() *cobra.Command {
	var role string
	c := p.listing("list [flags]", "List tasks, the latest change first", func() (node.Query, error) {
		switch role {
		case "", string(node.Requester), string(node.Provider):
			return node.Query{Role: node.Role(role)}, nil
		}
		return node.Query{}, wrongUse("--role is requester or provider")
	})
	c.Flags().StringVar(&role, "role", "", "requester (asked by this node) or provider (asked of it)")
	return example(c, "anet task list --open", "anet task list --role provider --json")
}

func (p *Program) resultsCommand() *cobra.Command {
	c := p.listing("results [flags]", "List what this node asked for and got an end", func() (node.Query, error) { return node.Results(), nil })
	return example(c, "anet results", "anet results --peer AID --json")
}

func (p *Program) inboxCommand() *cobra.Command {
	c := p.listing("inbox [flags]", "List what others ask of this node", func() (node.Query, error) { return node.Inbox(), nil })
	return example(c, "anet inbox --open", "anet inbox --json")
}

// listing is a command that lists the tasks of one question.
func (p *Program) listing(use, short string, base func() (node.Query, error)) *cobra.Command {
	var more node.Query
	var open bool
	c := command(use, short, none, func(cmd *cobra.Command, _ []string) error {
		q, err := base()
		if err != nil {
			return err
		}
		q.State, q.Peer, q.Limit, q.Cursor = more.State, more.Peer, more.Limit, more.Cursor
		if open {
			ended := false
			q.Ended = &ended
		}
		return p.ask(func(api node.API) error { return p.listTasks(cmd.Context(), api, q) })
	})
	f := c.Flags()
	f.BoolVar(&open, "open", false, "only those without an end")
	f.StringVar(&more.State, "state", "", "only those in this state")
	f.StringVar(&more.Peer, "peer", "", "only those with this agent")
	f.IntVar(&more.Limit, "limit", 0, "tasks of one page, 1 to 500 (50 when absent)")
	f.StringVar(&more.Cursor, "cursor", "", "next_cursor of the page before")
	return c
}

func (p *Program) listTasks(ctx context.Context, api node.API, q node.Query) error {
	page, err := api.List(ctx, q)
	if err != nil {
		return err
	}
	return p.show(page, func(w io.Writer) {
		if len(page.Tasks) == 0 {
			fmt.Fprintln(w, "none")
			return
		}
		fmt.Fprintln(w, "TASK\tSTATE\tWHAT\tWITH\tCHANGED")
		for _, t := range page.Tasks {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", line(t.ID), brief(t), short(what(t), 40), t.Peer, clock(t.Updated))
		}
		if page.NextCursor != "" {
			fmt.Fprintf(w, "there are more: --cursor %s\n", page.NextCursor)
		}
	})
}

// brief is the state, with what it is worth beside it.
func brief(t node.Task) string {
	s := line(t.State)
	if t.Effect != nil {
		s += " " + line(*t.Effect)
	}
	if t.Ended && t.ReceiptVerified != "verified" && t.State == string(task.Completed) {
		s += " (receipt " + line(t.ReceiptVerified) + ")"
	}
	return s
}

func what(t node.Task) string {
	if t.Capability != "" {
		return line(t.Capability)
	}
	return line(t.Text)
}

func short(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

func (p *Program) threadCommand() *cobra.Command {
	var into string
	c := command("thread TASK [--save FOLDER]", "Show a task and everything said in it", exactly("a task id"),
		func(cmd *cobra.Command, args []string) error {
			return p.ask(func(api node.API) error {
				t, err := api.Thread(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if into != "" {
					if err := p.save(cmd.Context(), api, t, into); err != nil {
						return err
					}
				}
				return p.show(t, func(w io.Writer) { printThread(w, t) })
			})
		})
	c.Flags().StringVar(&into, "save", "", "write the attached files into a fresh folder below this one")
	c.ValidArgsFunction = p.completeTasks(node.Query{})
	return example(c, "anet thread TASK", "anet thread TASK --save ~/Downloads")
}

// save writes the files of a thread where nothing else is. Their names are the
// other side's word (task.SaveFiles).
func (p *Program) save(ctx context.Context, api node.API, t node.Thread, into string) error {
	if err := os.MkdirAll(into, 0o700); err != nil {
		return err
	}
	named := slices.Clone(t.Files)
	for _, m := range t.Messages {
		named = append(named, m.Files...)
	}
	var list []task.Attachment
	for _, n := range named {
		f, err := api.File(ctx, t.Task.ID, n.CID)
		if err != nil {
			return err
		}
		list = append(list, task.Attachment{Name: n.Name, Mime: n.Mime, Size: int64(len(f.Data)), CID: n.CID, Data: f.Data})
	}
	if len(list) == 0 {
		p.note("no files are attached")
		return nil
	}
	dir, names, err := task.SaveFiles(into, list)
	if err != nil {
		return err
	}
	for _, name := range names {
		p.note("saved %s/%s", dir, name)
	}
	return nil
}

func (p *Program) messageCommand() *cobra.Command {
	c := p.saying("message TASK TEXT [--file FILE]", "Say something within a task", 2, node.API.Message)
	return example(c, `anet message TASK "A further instruction."`, `anet message TASK "Here it is." --file report.pdf`)
}

func (p *Program) endCommand() *cobra.Command {
	c := p.saying("end TASK [TEXT] [--file FILE]", "Complete a task as its provider, or ask the provider to", 1, node.API.End)
	c.Long = `End at the provider completes a text task: the text is the last word, and the
requester gets the result with a signed receipt. At the requester it asks the
provider to come to an end.`
	return example(c, `anet end TASK "Here is the translation: …"`, "anet end TASK --file result.csv")
}

// saying is a command that adds words and files to a task.
func (p *Program) saying(use, short string, least int, say func(node.API, context.Context, string, string, []node.File) (node.Task, error)) *cobra.Command {
	var paths []string
	c := command(use, short, between(least, "a task id", "a text"), func(cmd *cobra.Command, args []string) error {
		words := ""
		if len(args) > 1 {
			words = args[1]
		}
		files, err := attach(cmd.Context(), paths)
		if err != nil {
			return err
		}
		return p.ask(func(api node.API) error {
			t, err := say(api, cmd.Context(), args[0], words, files)
			if err != nil {
				return err
			}
			return p.showTask(t)
		})
	})
	c.Flags().StringArrayVar(&paths, "file", nil, "attach a file (again for more)")
	c.ValidArgsFunction = p.completeTasks(openOnly())
	return c
}

func openOnly() node.Query { ended := false; return node.Query{Ended: &ended} }

func (p *Program) cancelCommand() *cobra.Command {
	c := command("cancel TASK", "Withdraw a task, or ask its provider to stop", exactly("a task id"),
		func(cmd *cobra.Command, args []string) error {
			return p.ask(func(api node.API) error {
				t, err := api.Cancel(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return p.showTask(t)
			})
		})
	c.ValidArgsFunction = p.completeTasks(openOnly())
	return example(c, "anet cancel TASK")
}
