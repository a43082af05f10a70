package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"

	"github.com/anet-hub/anet/shared/plain"
)

// show prints a result: v as JSON, or the text for people.
func (p *Program) show(v any, text func(w io.Writer)) error {
	if !p.json {
		w := tabwriter.NewWriter(p.Out, 0, 8, 2, ' ', 0)
		text(w)
		return w.Flush()
	}
	return writeJSON(p.Out, v)
}

// writeJSON escapes what a terminal may act on: JSON itself leaves the controls
// above ASCII and what reorders text as they are.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escaped(b.String()))
	return err
}

// escaped holds the same JSON: such characters stand inside of strings only.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, half := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", half)
		}
	}
	return b.String()
}

// note tells a person something on the side.
func (p *Program) note(format string, args ...any) {
	fmt.Fprintln(p.Err, text(fmt.Sprintf(format, args...)))
}

// line and text are foreign text as a terminal may get it: what other people
// chose could move the cursor, or reorder what stands around it.
func line(s string) string { return plain.Line(s) }
func text(s string) string { return plain.Text(s) }

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

// terminal reports whether a stream is a person's.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
