package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/peers"
)

// checkFiles finds files that somebody else could change. What others could
// read is closed to them by the folder; the keys are looked at on their own.
func (x *exam) checkFiles() {
	entries, err := os.ReadDir(x.dir.String())
	if err != nil {
		x.found("files", err.Error(), "")
		return
	}
	healthy := true
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			healthy = x.checkFile(info) && healthy
		}
	}
	if healthy {
		x.fine("files", "%d, all this user's own", len(entries))
	}
}

func (x *exam) checkFile(info fs.FileInfo) bool {
	path := x.dir.Path(info.Name())
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(stat.Uid) != os.Geteuid():
		x.found("files", path+" belongs to another user", fmt.Sprintf("chown %d %s", os.Geteuid(), path))
	case info.Mode().Perm()&0o022 != 0:
		x.found("files", fmt.Sprintf("%s may be changed by other users (mode %04o)", path, info.Mode().Perm()), "chmod 600 "+path)
	default:
		return true
	}
	return false
}

// overdue is how late a running node may be with its encryption keys.
const overdue = 24 * time.Hour

func (x *exam) checkKeys() {
	v, err := keyring.Look(x.dir)
	if err != nil {
		x.found("keys", err.Error(), "")
		return
	}
	if late := x.now().Sub(v.Due); late > overdue && !v.Due.IsZero() {
		x.found("keys", fmt.Sprintf("the encryption keys were to be renewed on %s; others may have no key to write to this node",
			v.Due.Local().Format(time.DateTime)), "anet up --detach")
		return
	}
	x.fine("keys", "%s, key state %d", v.AID, v.KeySeq)
}

func (x *exam) checkJournal(ctx context.Context) {
	if err := journal.Check(ctx, x.dir.Path(journal.FileName)); err != nil {
		x.found("journal", err.Error(), "")
		return
	}
	x.fine("journal", "undamaged")
}

func (x *exam) checkConfig() {
	conf, err := config.Load(x.dir)
	var problems config.Problems
	switch {
	case errors.As(err, &problems):
		for _, p := range problems {
			x.found("config", p.String(), "edit "+x.dir.Path(config.FileName))
		}
	case err != nil:
		x.found("config", err.Error(), "")
	default:
		x.conf = conf
		x.fine("config", "policy %s, %d public capabilities, %d tags", conf.Inbound.Policy, len(conf.Inbound.PublicCapabilities), len(conf.Tags))
	}
}

func (x *exam) checkPeers() {
	healthy, all := true, 0
	for _, list := range peers.Order {
		aids, err := peers.In(x.dir).Members(list)
		if err != nil {
			x.found("peers", err.Error(), "mend the file; until then the list closes")
			healthy = false
		}
		all += len(aids)
	}
	if healthy {
		x.fine("peers", "%d on the lists", all)
	}
}

// minFree is the space below which the journal and the mail of a day may not fit.
const minFree = 256 << 20

func (x *exam) checkDisk() {
	var s unix.Statfs_t
	if err := unix.Statfs(x.dir.String(), &s); err != nil {
		x.found("disk", err.Error(), "")
		return
	}
	free := uint64(s.Bavail) * uint64(s.Bsize)
	if free < minFree {
		x.found("disk", fmt.Sprintf("%s left where the node keeps its tasks", humanize.IBytes(free)), "make room on the disk of "+x.dir.String())
		return
	}
	x.fine("disk", "%s left", humanize.IBytes(free))
}
