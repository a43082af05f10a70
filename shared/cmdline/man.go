package cmdline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes what --help says as pages for man, for who packages the
// program.
func manCommand() *cobra.Command {
	c := Command("man FOLDER", "Write manual pages into a folder", Exactly("a folder"), func(cmd *cobra.Command, args []string) error {
		return writePages(cmd.Root(), args[0])
	})
	c.Hidden = true
	return c
}

// writePages writes a page for each command that a person would type.
func writePages(c *cobra.Command, folder string) error {
	if err := os.WriteFile(filepath.Join(folder, pageName(c)+".1"), []byte(page(c)), 0o644); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if !typed(sub) {
			continue
		}
		if err := writePages(sub, folder); err != nil {
			return err
		}
	}
	return nil
}

func typed(c *cobra.Command) bool { return c.IsAvailableCommand() && c.Name() != "help" }

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// page is the help of one command in the language of man.
func page(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(pageName(c)), roff(pageName(c)), roff(c.Short))
	b.WriteString(".SH SYNOPSIS\n" + verbatim(c.UseLine()))
	if c.Long != "" {
		b.WriteString(".SH DESCRIPTION\n" + paragraphs(c.Long))
	}
	flags := func(title string, fs *pflag.FlagSet) {
		if fs.HasAvailableFlags() {
			b.WriteString(".SH " + title + "\n" + verbatim(fs.FlagUsages()))
		}
	}
	flags("OPTIONS", c.NonInheritedFlags())
	flags("OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + verbatim(c.Example))
	}
	if also := related(c); len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(also, ",\n") + "\n")
	}
	return b.String()
}

func related(c *cobra.Command) (pages []string) {
	near := c.Commands()
	if c.HasParent() {
		near = append([]*cobra.Command{c.Parent()}, near...)
	}
	for _, other := range near {
		if typed(other) || other == c.Root() {
			pages = append(pages, ".BR "+roff(pageName(other))+" (1)")
		}
	}
	return pages
}

// paragraphs fills text, and leaves lists and tables as they are written.
func paragraphs(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.Contains("\n"+part, "\n  ") {
			b.WriteString(verbatim(part))
		} else {
			b.WriteString(".PP\n" + roff(part) + "\n")
		}
	}
	return b.String()
}

func verbatim(text string) string {
	return ".PP\n.nf\n" + roff(strings.TrimRight(text, "\n")) + "\n.fi\n"
}

// roff keeps text from being read as requests, and hyphens as they are typed.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
