// Package doctor looks at a node without starting it and says what is wrong,
// each finding with the next step. It changes nothing, so it may be run at any
// time, beside a running node too.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/checkup"
)

// exam is one examination.
type exam struct {
	dir     datadir.Dir
	now     func() time.Time
	results checkup.Results
	conf    *config.Config // nil when it cannot be read
}

// Examine looks at the node of a folder.
func Examine(ctx context.Context, path string, now func() time.Time) checkup.Results {
	x := &exam{now: now}
	dir, err := datadir.At(path)
	if err != nil {
		x.found("folder", err.Error(), "")
		return x.results
	}
	x.dir = dir
	x.fine("folder", "%s", dir)
	x.checkFiles()
	x.checkKeys()
	x.checkJournal(ctx)
	x.checkConfig()
	x.checkPeers()
	x.checkServices(ctx)
	x.checkDisk()
	x.checkHub(ctx)
	x.checkProcess(ctx)
	return x.results
}

func (x *exam) add(check string, s checkup.Status, message, next string) {
	x.results = append(x.results, checkup.Result{Check: check, Status: s, Message: message, Next: next})
}

func (x *exam) fine(check, format string, args ...any) {
	x.add(check, checkup.OK, fmt.Sprintf(format, args...), "")
}

func (x *exam) found(check, message, next string) { x.add(check, checkup.Finding, message, next) }

func (x *exam) skip(check, why string) { x.add(check, checkup.Skipped, why, "") }
