package cmdline

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/shared/errs"
)

// Nothing that others chose moves the cursor of who reads it as JSON.
func TestForeignText(t *testing.T) {
	tests := []struct{ why, in, want string }{
		{"plain", "Zürich 🚪", `"Zürich 🚪"`},
		{"an escape", "a\x1b[2J", `"a\u001b[2J"`},
		{"a control above ASCII", "a\u009b2J", `"a\u009b2J"`},
		{"what reorders", "a\u202eb", `"a\u202eb"`},
		{"what JSON leaves", "a\u2028b<>&", `"a\u2028b<>&"`},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		if err := WriteJSON(&b, tt.in); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(b.String()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// Where nobody can be asked, only the flag agrees.
func TestConfirmWithoutATerminal(t *testing.T) {
	var notes bytes.Buffer
	if err := Confirm(t.Context(), strings.NewReader("yes\n"), &notes, false, "Really?"); !Misused(err) {
		t.Errorf("words on stdin: %v", err)
	}
	if err := Confirm(t.Context(), strings.NewReader(""), &notes, true, "Really?"); err != nil {
		t.Errorf("with the flag: %v", err)
	}
}

func TestMisuse(t *testing.T) {
	const secret = "S3CRET"
	var ran bool
	root := &cobra.Command{Use: "p", SilenceUsage: true, SilenceErrors: true, Args: None, RunE: Help}
	root.AddCommand(
		Command("one NAME", "", Exactly("a name"), func(*cobra.Command, []string) error { ran = true; return errs.New(errs.Invalid, "x", "x") }),
		Group("some", "", Command("none", "", None, func(*cobra.Command, []string) error { return nil })),
	)
	tests := []struct {
		line    string
		misused bool
	}{
		{"one", true}, {"one a b", true}, {"one --flag", true}, {"some none " + secret, true}, {"some fly", true},
		{"one a", false}, // which failed at its work
	}
	for _, tt := range tests {
		root.SetArgs(strings.Fields(tt.line))
		err := root.ExecuteContext(context.Background())
		if err == nil || Misused(err) != tt.misused || strings.Contains(err.Error(), secret) {
			t.Errorf("p %s: %v, misused %v, want %v", tt.line, err, Misused(err), tt.misused)
		}
	}
	if !ran || !errs.Is(Ran(errs.New(errs.Invalid, "x", "")), "x") || Ran(nil) != nil || Misused(Ran(errors.New(""))) {
		t.Error("what a command came to is taken for wrong use")
	}
}
