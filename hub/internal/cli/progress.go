package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/anet-hub/anet/shared/cmdline"
)

// progress is one line on a terminal that is written over; elsewhere nothing.
type progress struct {
	to   io.Writer
	now  func() time.Time
	what string
	last time.Time
}

const progressEvery = 200 * time.Millisecond

func (p *Program) progress() *progress {
	show := &progress{now: p.Now}
	if cmdline.Terminal(p.Err) {
		show.to = p.Err
	}
	return show
}

// at is the app.Progress that writes the line.
func (p *progress) at(what string, done, total int64) {
	if p.turns(what) {
		fmt.Fprintf(p.to, "\r\033[K%s%s", what, far(done, total))
	}
}

// count is the ledger.Tell that writes it.
func (p *progress) count(what string, n int64) {
	switch {
	case !p.turns(what):
	case n == 0:
		fmt.Fprintf(p.to, "\r\033[K%s...", what)
	default:
		fmt.Fprintf(p.to, "\r\033[K%s %s", what, humanize.Comma(n))
	}
}

// turns reports whether the line is to be written: at once for something new, and now
// and then for how far it is.
func (p *progress) turns(what string) bool {
	if p.to == nil {
		return false
	}
	now := p.now()
	if what == p.what && now.Sub(p.last) < progressEvery {
		return false
	}
	p.what, p.last = what, now
	return true
}

func far(done, total int64) string {
	switch {
	case total > 0:
		return fmt.Sprintf(" %s, %d%%", humanize.IBytes(uint64(done)), 100*done/total)
	case done > 0:
		return " " + humanize.IBytes(uint64(done))
	}
	return "..."
}

// end takes the line away. It may be called twice.
func (p *progress) end() {
	if p.to != nil && p.what != "" {
		fmt.Fprint(p.to, "\r\033[K")
		p.what = ""
	}
}
