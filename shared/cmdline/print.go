package cmdline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/plain"
)

// WriteJSON escapes what a terminal may act on: JSON itself leaves the controls
// above ASCII and what reorders text as they are.
func WriteJSON(w io.Writer, v any) error {
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

// Problem is what --json prints in place of a result.
type Problem struct {
	Error        string `json:"error"`
	Code         string `json:"code,omitempty"`
	Field        string `json:"field,omitempty"`
	RetryAfterMS int64  `json:"retry_after_ms,omitempty"`
	Exit         int    `json:"exit"`
}

// ProblemOf is the failure of a command that ends with exit.
func ProblemOf(err error, exit int) Problem {
	out := Problem{Error: err.Error(), Exit: exit}
	if e := errs.As(err); e != nil {
		out.Code, out.Field, out.RetryAfterMS = e.Reason, e.Field, e.RetryAfter.Milliseconds()
	}
	return out
}

// Note tells a person something on the side.
func Note(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, plain.Text(fmt.Sprintf(format, args...)))
}

// Terminal reports whether a stream is a person's.
func Terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
