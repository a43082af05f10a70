package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/cmdline"
)

const aboutMigrate = `Bring the database's schema to the version of this program. "serve" does the same
when it starts, unless it is told --no-migrate.

A step waits for the tables it needs for two seconds at most, and is tried again
ten times: everybody behind it in the queue waits as long. Each is one transaction,
done whole or not at all, but for indexes that are built beside the writers. What is
done is not undone: before a step that matters, take a backup.

--plan shows the steps that are pending and changes nothing: which tables each
locks, against whom, for about how long by their size, and which older programs may
go on serving afterwards ("anet-hub version" tells what a program knows).`

func (p *Program) migrateCommand() *cobra.Command {
	var plan bool
	c, _ := p.operating(nil, "migrate", "Bring the database's schema to the version of this program", cmdline.None, func(ctx context.Context, j *job) (err error) {
		s, err := app.OpenSchema(ctx, j.cfg, j.log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close(ctx)) }()
		version, steps, err := s.Plan(ctx)
		if err != nil || plan {
			return errors.Join(err, p.showPlan(version, steps, err))
		}
		return p.migrate(ctx, s, version, steps)
	})
	c.Long = aboutMigrate
	c.Flags().BoolVar(&plan, "plan", false, "show what is pending, and do nothing")
	return cmdline.Example(c, "anet-hub migrate --plan", "anet-hub migrate --database-url-file /etc/anet-hub/database")
}

func (p *Program) migrate(ctx context.Context, s *app.Schema, from int64, steps []migrations.Step) error {
	log := slog.New(slog.NewTextHandler(p.Err, nil))
	if err := s.Migrate(ctx, log); err != nil {
		return err
	}
	done := map[string]any{"from": from, "to": migrations.Latest(), "applied": stepViews(steps)}
	return p.show(done, func(w io.Writer) {
		fmt.Fprintf(w, "schema\t%d\napplied\t%d steps\n", migrations.Latest(), len(steps))
	})
}

// stepView is a step as --json prints it.
type stepView struct {
	Version int64      `json:"version"`
	Name    string     `json:"name"`
	Serving int64      `json:"min_program"`
	Whole   bool       `json:"one_transaction"`
	Undo    bool       `json:"can_be_undone"` // never, once it is committed
	Locks   []lockView `json:"locks"`
}

type lockView struct {
	Table   string  `json:"table"`
	Mode    string  `json:"mode"`
	Work    string  `json:"work"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	Waits   string  `json:"waits"`
}

func stepViews(steps []migrations.Step) []stepView {
	views := make([]stepView, len(steps))
	for i, s := range steps {
		views[i] = stepView{Version: s.Version, Name: s.Name, Serving: s.Serving, Whole: !s.InParts, Locks: []lockView{}}
		for _, l := range s.Locks {
			views[i].Locks = append(views[i].Locks, lockView{l.Table, l.Mode, string(l.Work), l.Bytes, l.Lasts().Seconds(), l.Waits()})
		}
	}
	return views
}

func (p *Program) showPlan(version int64, steps []migrations.Step, err error) error {
	if err != nil {
		return nil // which is told by itself
	}
	plan := map[string]any{"schema": version, "program": migrations.Latest(), "pending": stepViews(steps)}
	return p.show(plan, func(w io.Writer) {
		fmt.Fprintf(w, "schema\t%d\nprogram\t%d\npending\t%d steps\n", version, migrations.Latest(), len(steps))
		for _, s := range steps {
			tellStep(w, s)
		}
	})
}

func tellStep(w io.Writer, s migrations.Step) {
	fmt.Fprintf(w, "\n%s\n", s.Name)
	for _, l := range s.Locks {
		fmt.Fprintf(w, "  locks\t%s (%s), %s; %s wait %s\n", l.Table, humanize.IBytes(uint64(l.Bytes)), l.Mode, l.Waits(), lasting(l.Lasts()))
	}
	if len(s.Locks) == 0 {
		fmt.Fprintln(w, "  locks\tnothing that is in use")
	}
	fmt.Fprintf(w, "  serving\tprograms that know version %d or later go on\n", s.Serving)
	undo := "no; until it is done it is taken back whole"
	if s.InParts {
		undo = "no; cut off in its middle, it is gone on with"
	}
	fmt.Fprintf(w, "  undo\t%s\n", undo)
}

func lasting(d time.Duration) string {
	if d < time.Second {
		return "for a moment"
	}
	return "for about " + d.String()
}
