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
)

// Status is what a check came to.
type Status string

// The statuses. Skipped is a check that another finding made impossible.
const (
	OK      Status = "ok"
	Finding Status = "finding"
	Skipped Status = "skipped"
)

// Result is one check. A check that finds several things gives several.
type Result struct {
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Message string `json:"message"`
	Next    string `json:"next,omitempty"` // what to do about a finding
}

// Results are in the order in which they are worth mending.
type Results []Result

// Healthy reports whether nothing was found.
func (r Results) Healthy() bool {
	for _, one := range r {
		if one.Status == Finding {
			return false
		}
	}
	return true
}

// exam is one examination.
type exam struct {
	dir     datadir.Dir
	now     func() time.Time
	results Results
	conf    *config.Config // nil when it cannot be read
}

// Examine looks at the node of a folder.
func Examine(ctx context.Context, path string, now func() time.Time) Results {
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

func (x *exam) add(check string, s Status, message, next string) {
	x.results = append(x.results, Result{check, s, message, next})
}

func (x *exam) fine(check, format string, args ...any) {
	x.add(check, OK, fmt.Sprintf(format, args...), "")
}

func (x *exam) found(check, message, next string) { x.add(check, Finding, message, next) }

func (x *exam) skip(check, why string) { x.add(check, Skipped, why, "") }
