package monitoring

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
)

// runbooks is the page, from the root of the repository.
const runbooks = "docs/runbooks.md"

// paragraphs are what the page says, by alert.
func paragraphs(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for part := range strings.SplitSeq(string(read(t, "../../"+runbooks)), "\n## ") {
		if name, text, _ := strings.Cut(part, "\n"); !strings.HasPrefix(name, "# ") {
			all[name] = strings.Join(strings.Fields(text), " ")
		}
	}
	return all
}

// Who is called finds what it means, how to look and what to do; and no
// paragraph tells of an alert that never rings.
func TestEveryAlertHasARunbook(t *testing.T) {
	said := paragraphs(t)
	for _, a := range alerts(t) {
		text, ok := said[a.Alert]
		if !ok {
			t.Errorf("%s says nothing of %s", runbooks, a.Alert)
			continue
		}
		for _, part := range []string{"*Look:*", "*Do:*"} {
			if !strings.Contains(text, part) {
				t.Errorf("the runbook of %s has no %s", a.Alert, part)
			}
		}
		if severity := "**" + a.Labels["severity"]; !strings.Contains(strings.ToLower(text), severity) {
			t.Errorf("the runbook of %s does not say that it is %s", a.Alert, a.Labels["severity"])
		}
	}
	for name := range said {
		if !slices.ContainsFunc(alerts(t), func(a rule) bool { return a.Alert == name }) {
			t.Errorf("%s tells of %s, and there is no such alert", runbooks, name)
		}
	}
}

var (
	flagInText = regexp.MustCompile("--([a-z-]+)")
	sqlInText  = regexp.MustCompile("`(SELECT [^`]+)`")
)

// ofCommands are flags of operator commands that runbooks name.
var ofCommands = []string{"reason", "check", "delivery", "discovery", "limit"}

// Flags that a runbook names are serve's or an operator command's, and its
// statements run.
func TestRunbooksCanBeFollowed(t *testing.T) {
	cfg, serve := app.Defaults(), pflag.NewFlagSet("serve", pflag.ContinueOnError)
	cfg.ServeFlags(serve)
	pool := pgtest.New(t)
	for name, text := range paragraphs(t) {
		for _, m := range flagInText.FindAllStringSubmatch(text, -1) {
			if serve.Lookup(m[1]) == nil && !slices.Contains(ofCommands, m[1]) {
				t.Errorf("the runbook of %s names --%s, which anet-hub does not have", name, m[1])
			}
		}
		for _, m := range sqlInText.FindAllStringSubmatch(text, -1) {
			if _, err := pool.Exec(t.Context(), strings.ReplaceAll(m[1], "PID", "0")); err != nil {
				t.Errorf("the runbook of %s: %s: %v", name, m[1], err)
			}
		}
	}
}

var metricInText = regexp.MustCompile("`([a-z_]+)`")

// The page on running a hub has every metric, and none that is not there.
func TestEveryMetricIsDocumented(t *testing.T) {
	_, table, _ := strings.Cut(string(read(t, "../../docs/hub.md")), "| metric, `anet_hub_` and |")
	table, _, _ = strings.Cut(table, "\n\n")
	told := map[string]bool{}
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range metricInText.FindAllStringSubmatch(cells[1], -1) {
				told["anet_hub_"+m[1]] = true
			}
		}
	}
	reg, _ := hub(t)
	for name := range described(t, reg) {
		if strings.HasPrefix(name, "anet_hub_") && !told[name] {
			t.Errorf("docs/hub.md, Watching, does not have %s", name)
		}
		delete(told, name)
	}
	for name := range told {
		t.Errorf("docs/hub.md, Watching, has %s, and no hub does", name)
	}
}
