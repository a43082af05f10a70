package cli

import (
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/anet-hub/anet/shared/cmdline"
)

// show prints a result: v as JSON, or the text for people.
func (p *Program) show(v any, text func(w io.Writer)) error {
	if !p.json {
		w := tabwriter.NewWriter(p.Out, 0, 8, 2, ' ', 0)
		text(w)
		return w.Flush()
	}
	return cmdline.WriteJSON(p.Out, v)
}

// note tells a person something on the side.
func (p *Program) note(format string, args ...any) {
	cmdline.Note(p.Err, format, args...)
}

// words joins a list, and says so when there is nothing in it.
func words(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	safe := make([]string, len(list))
	for i, s := range list {
		safe[i] = line(s)
	}
	return strings.Join(safe, ", ")
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

func clockOf(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return clock(*t)
}
