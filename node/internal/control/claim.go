package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
)

const claimName = "anet.lock"

// AlreadyRunning is the reason when another process works on the data folder.
const AlreadyRunning = "node_already_running"

// Claim is the right to work on a data folder: to open its journal, to use its
// keys, to listen. Its file holds the process id, for people.
type Claim struct {
	dir  datadir.Dir
	file *os.File
}

// Take claims the folder. Conflict AlreadyRunning when a process has it.
func Take(dir datadir.Dir) (*Claim, error) {
	f, err := os.OpenFile(dir.Path(claimName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", dir, err)
	}
	c := &Claim{dir: dir, file: f}
	if err := c.lock(); err != nil {
		f.Close()
		return nil, err
	}
	return c, c.sign()
}

func (c *Claim) lock() error {
	err := unix.Flock(int(c.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		pid, _ := io.ReadAll(io.LimitReader(c.file, 20))
		return errs.New(errs.Conflict, AlreadyRunning,
			"a node is running on %s already (process %s); stop it first: anet down", c.dir, strings.TrimSpace(string(pid)))
	}
	if err != nil {
		return fmt.Errorf("claim %s: %w", c.dir, err)
	}
	return nil
}

func (c *Claim) sign() error {
	if err := c.file.Truncate(0); err != nil {
		return err
	}
	_, err := c.file.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// Release lets go of the folder. The file stays: removed, two processes could
// lock two files of one name.
func (c *Claim) Release() error { return c.file.Close() }

// Free waits until no process has the folder.
func Free(ctx context.Context, dir datadir.Dir) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := Take(dir)
		if err == nil {
			return c.Release()
		}
		if !errs.Is(err, AlreadyRunning) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}
