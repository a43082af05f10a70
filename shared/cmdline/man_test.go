package cmdline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A page says what --help says; nothing in it is taken for a request of roff.
func TestPagesForMan(t *testing.T) {
	root := &cobra.Command{Use: "p", Short: "Do things", Args: None, RunE: Help}
	one := Example(Command("one FILE", "Do one thing", Exactly("a file"), nil), `p one C:\here`)
	one.Long = "First line\n.hidden is no request.\n\nExit codes:\n  0  done"
	one.Flags().Bool("with-mail", false, "take mail along")
	root.AddCommand(one)
	Furnish(root)
	dir := t.TempDir()
	if err := writePages(root, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "p-one.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".TH \"P-ONE\" 1\n", "p\\-one \\- Do one thing\n", "\n\\&.hidden is no request.\n",
		".nf\nExit codes:\n  0  done\n.fi\n", "\\-\\-with\\-mail[=true|false]   take mail along", `p one C:\ehere`, ".BR p (1)\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	for name, there := range map[string]bool{"p.1": true, "p-completion-bash.1": true, "p-man.1": false, "p-help.1": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}
