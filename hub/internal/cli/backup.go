package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/backup"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/plain"
)

const aboutBackup = `Write the hub, as it is at one moment, into a file: members, registrations,
invites, the audit log, and the hub's private key. Keep the file as you keep a key.

Mail that waits is left out unless --with-mail is given: its senders send again
what was not answered. The memory of used signatures is never part of it.

The file takes its name once it is whole and on the disk. It works beside processes
that serve, and before a migration. FILE may be - for stdout.`

func (p *Program) backupCommand() *cobra.Command {
	var force, mail bool
	c := p.actingOn(app.AnySchema, "backup FILE", "Write the hub into a file", cmdline.Exactly("a file"), func(ctx context.Context, j *job) error {
		show := p.progress()
		defer show.end()
		path := j.args[0]
		if path == "-" {
			return p.backupToStdout(ctx, j, mail, show.at)
		}
		m, err := j.BackupFile(ctx, path, force, mail, j.by, show.at)
		if err != nil {
			return err
		}
		show.end()
		return p.show(backupView{m, path}, func(w io.Writer) { fmt.Fprintf(w, "file\t%s\n", path); describe(w, m) })
	})
	c.Long = aboutBackup
	c.Flags().BoolVar(&force, "force", false, "replace FILE where it is there")
	c.Flags().BoolVar(&mail, "with-mail", false, "with the mail that waits")
	c.ValidArgsFunction = nil // files
	return cmdline.Example(c, "anet-hub backup /var/backups/hub-$(date +%F)", "anet-hub backup - | ssh vault 'cat > hub'")
}

func (p *Program) backupToStdout(ctx context.Context, j *job, mail bool, at app.Progress) error {
	switch {
	case p.json:
		return cmdline.WrongUse("stdout takes the backup or JSON, not both")
	case cmdline.Terminal(p.Out):
		return cmdline.WrongUse("a backup is nothing for a terminal: name a file, or send it into one")
	}
	_, err := j.BackupTo(ctx, p.Out, mail, j.by, at)
	return err
}

// backupView is a backup as --json prints it.
type backupView struct {
	backup.Manifest
	File string `json:"file"`
}

func describe(w io.Writer, m backup.Manifest) {
	mail := "left out"
	if m.Mail {
		mail = fmt.Sprint(m.Rows["message"], " messages")
	}
	fmt.Fprintf(w, "hub\t%s\ntaken\t%s\nschema\t%d\nprogram\t%s\npostgres\t%d\nmembers\t%d\nagents\t%d\nmail\t%s\nsize\t%s\nsha256\t%s\n",
		m.Hub, m.TakenAt.Local().Format(time.DateTime), m.Schema, plain.Line(m.Program), m.Postgres,
		m.Rows["member"], m.Rows["agent"], mail, humanize.IBytes(uint64(max(m.Bytes, 0))), m.SHA256)
}

const aboutRestore = `Make an empty database the hub that was backed up. Everything is there afterwards,
or nothing changed: whatever ends it early, a kill or a full disk, leaves the
database as it was. A backup of an older version is migrated, one of a newer
version refused.

Stop the hub first, and let no two hubs run from one backup: they would speak with
one voice. Mailboxes go on with ids that were never given out, and requests signed
before the restore are refused.

With --check nothing of the hub changes: the backup is restored into a database
beside it, looked through (rows, references, indexes, the hub's identity, every key
history, cards, capabilities) and dropped. The hub remembers that it was proven;
the metric anet_hub_backup_proven_age_seconds tells when.`

func (p *Program) restoreCommand() *cobra.Command {
	var check, over, yes bool
	c := p.actingOn(nil, "restore FILE", "Restore a backup into an empty database, or prove that it can be", cmdline.Exactly("a file"), func(ctx context.Context, j *job) error {
		a, err := app.OpenArchive(j.args[0])
		if err != nil {
			return err
		}
		defer a.Close()
		if check {
			return p.checkBackup(ctx, j, a, yes)
		}
		return p.restore(ctx, j, a, over, yes)
	})
	c.Long = aboutRestore
	c.Flags().BoolVar(&check, "check", false, "restore into a database that is dropped afterwards, and look at it")
	c.Flags().BoolVar(&over, "into-empty", false, "also over a hub that was made here and that nobody ever registered at")
	cmdline.YesFlag(c, &yes)
	c.MarkFlagsMutuallyExclusive("check", "into-empty")
	c.ValidArgsFunction = nil
	return cmdline.Example(c, "anet-hub restore --check /var/backups/hub-2026-01-31", "anet-hub restore /var/backups/hub-2026-01-31 --data-dir ~/hub")
}

// checkBackup asks before it works on another hub's backup, which proves nothing
// about this one's.
func (p *Program) checkBackup(ctx context.Context, j *job, a *app.Archive, yes bool) (err error) {
	if j.Operator, err = app.NewOperator(ctx, j.cfg, j.log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close(ctx)) }()
	if own, err := j.Identity(ctx); err != nil {
		return err
	} else if own.AID != a.Hub {
		const question = "This is a backup of another hub (%s), not of this one (%s). Check it all the same?"
		if err := cmdline.Confirm(ctx, p.In, p.Err, yes, fmt.Sprintf(question, a.Hub, own.AID)); err != nil {
			return err
		}
	}
	show := p.progress()
	defer show.end()
	v, err := j.Check(ctx, a, j.by, show.at)
	if err != nil {
		return err
	}
	show.end()
	if v.Wrong == nil {
		v.Wrong = []string{}
	}
	if err := p.show(v, func(w io.Writer) { tellVerdict(w, v) }); err != nil || len(v.Wrong) == 0 {
		return err
	}
	return answer{errors.New("the backup is not whole")}
}

func tellVerdict(w io.Writer, v app.Verdict) {
	describe(w, v.Manifest)
	for _, what := range v.Wrong {
		fmt.Fprintf(w, "wrong\t%s\n", plain.Line(what))
	}
	switch {
	case v.Proven:
		fmt.Fprintln(w, "proven\tit restores whole")
	case len(v.Wrong) == 0:
		fmt.Fprintln(w, "proven\tit restores whole, as another hub")
	}
}

func (p *Program) restore(ctx context.Context, j *job, a *app.Archive, over, yes bool) (err error) {
	l, err := app.NewLanding(ctx, j.cfg, j.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close(ctx)) }()
	if err := l.Free(over); err != nil {
		return err
	}
	if !l.Empty() {
		const question = "The hub that was made here (%s) goes, and hub %s takes its place. Go on?"
		if err := cmdline.Confirm(ctx, p.In, p.Err, yes, fmt.Sprintf(question, l.Hub, a.Hub)); err != nil {
			return err
		}
	}
	show := p.progress()
	defer show.end()
	if err := l.Restore(ctx, a, j.by, show.at); err != nil {
		return err
	}
	show.end()
	return p.show(a.Manifest, func(w io.Writer) { describe(w, a.Manifest); tellRestored(w) })
}

// tellRestored says what is to be done next. A backup from before the ledger has
// none to audit, and the audit says so.
func tellRestored(w io.Writer) {
	fmt.Fprintln(w, "restored\tstart it with anet-hub serve")
	fmt.Fprintln(w, "credits\tmove again once anet-hub credit audit has found nothing")
}
