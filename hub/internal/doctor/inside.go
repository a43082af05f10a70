package doctor

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
)

const (
	offTooFar  = 30 * time.Second // requests are refused at five minutes
	backupLate = 48 * time.Hour
	proofLate  = 30 * 24 * time.Hour
	leastDisk  = 2 << 30
)

func (x *exam) clock(ctx context.Context) {
	const check = "clock"
	if x.answers {
		if at, ok := x.hubTime(ctx); ok {
			x.compare("hub's machine", at.Sub(x.Now()))
		}
	}
	if f := x.Inside.Facts; f != nil {
		x.compare("database's machine", f.Ahead)
	}
	if !x.answers && x.Inside.Facts == nil {
		x.skip(check, "there is no clock to compare with")
	}
}

// hubTime is what the hub dates its answers with, to the second.
func (x *exam) hubTime(ctx context.Context) (time.Time, bool) {
	ctx, cancel := context.WithTimeout(ctx, quick)
	defer cancel()
	resp, err := x.get(ctx, x.at("/healthz"))
	if err != nil {
		return time.Time{}, false
	}
	resp.Body.Close()
	at, err := http.ParseTime(resp.Header.Get("Date"))
	return at, err == nil
}

func (x *exam) compare(whose string, ahead time.Duration) {
	off := ahead.Abs().Round(time.Second)
	if off > offTooFar {
		x.found("clock", fmt.Sprintf("the clock of the %s is %s off from this machine's", whose, off), "signed requests are refused when clocks differ by five minutes", "set both clocks by NTP (timedatectl set-ntp true)")
		return
	}
	x.fine("clock", "that of the %s agrees with this machine's", whose)
}

func (x *exam) database(context.Context) {
	const check = "database"
	f := x.Inside.Facts
	switch {
	case f == nil && x.Inside.None:
		x.skip(check, "no hub lives on this machine; run doctor where it does, or name its database")
		return
	case f == nil:
		x.found(check, fmt.Sprintf("it cannot be looked at: %v", x.Inside.Err), "the hub may have none, or this command was not told where it is", "run doctor where the hub runs, as its user, with its --data-dir or database URL")
		return
	}
	x.fine(check, "PostgreSQL %s", f.Version)
	for _, setting := range []struct{ name, why string }{
		{"fsync", "a crash of the machine can destroy the database"},
		{"full_page_writes", "a crash of the machine can destroy the database"},
		{"synchronous_commit", "a crash of the machine loses mail that the hub said it took"},
	} {
		if f.Settings[setting.name] == "off" {
			x.found(check, setting.name+" is off", setting.why, "set "+setting.name+" = on in postgresql.conf, and reload")
		}
	}
	if f.Free < x.Inside.Conns {
		x.found(check, fmt.Sprintf("%d connections are left of max_connections = %s, and a hub process opens up to %d", f.Free, f.Settings["max_connections"], x.Inside.Conns),
			"another process, or one under load, finds no connection", "raise max_connections, or lower --database-conns")
	}
	if f.Pooled && !f.Direct {
		x.found(check, "a connection pooler stands before it and no direct URL is given", "polls learn of mail from other processes late, and migrations cannot run", "give the database's own address with --database-direct-url(-file)")
	}
}

func (x *exam) schema(context.Context) {
	const check = "schema"
	f := x.Inside.Facts
	switch {
	case f == nil:
		x.skip(check, "the database cannot be looked at")
	case f.Served != nil:
		x.found(check, f.Served.Error(), "this program cannot serve", "install the newer program")
	case f.Schema < f.Known:
		x.found(check, fmt.Sprintf("version %d, this program knows %d", f.Schema, f.Known), "what runs is older than what is installed", "restart the hub, which brings the schema up to date, or see anet-hub migrate --plan")
	default:
		x.fine(check, "version %d", f.Schema)
	}
}

func (x *exam) backup(context.Context) {
	const check = "backup"
	const lost = "what a broken disk or a mistake takes is gone, the hub's identity with it"
	f, now := x.Inside.Facts, x.Now()
	switch {
	case f == nil:
		x.skip(check, "the database cannot be looked at")
	case f.Settings["archive_mode"] != "off" && now.Sub(f.Archived) < backupLate:
		x.fine(check, "the server archives its log, last %s ago", age(now, f.Archived))
	case !f.Backups:
		x.skip(check, "this schema keeps no word of backups")
	case f.BackupTaken.IsZero():
		x.found(check, "none was ever taken", lost, "take one every night: anet-hub backup FILE")
	case now.Sub(f.BackupTaken) > backupLate:
		x.found(check, "the newest one is of "+f.BackupTaken.Format(time.DateOnly), lost, "see why the nightly one is not taken")
	case now.Sub(f.BackupProven) > proofLate:
		x.found(check, "taken "+age(now, f.BackupTaken)+" ago, and none of the last month was proven to restore", "a backup that does not restore is none", "prove one: anet-hub restore --check FILE")
	default:
		x.fine(check, "taken %s ago, proven %s ago", age(now, f.BackupTaken), age(now, f.BackupProven))
	}
}

func age(now, at time.Time) string { return now.Sub(at).Round(time.Minute).String() }

func (x *exam) disk(context.Context) {
	const check = "disk"
	var fs unix.Statfs_t
	switch {
	case x.Inside.Dir == "":
		x.skip(check, "the database is not in a folder of this hub's")
	case unix.Statfs(x.Inside.Dir, &fs) != nil:
		x.skip(check, "%s cannot be looked at", x.Inside.Dir)
	default:
		free, all := fs.Bavail*uint64(fs.Bsize), fs.Blocks*uint64(fs.Bsize)
		text := fmt.Sprintf("%s of %s are free at %s", humanize.IBytes(free), humanize.IBytes(all), x.Inside.Dir)
		if free < leastDisk {
			x.found(check, text, "a database without room stops, and takes no mail", "make room, or lower --relay-total-bytes")
			return
		}
		x.fine(check, "%s", text)
	}
}
