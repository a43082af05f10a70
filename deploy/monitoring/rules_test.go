// Package monitoring has no program, only what watches a hub: rules for
// Prometheus, a dashboard for Grafana. Its tests hold them to a running hub and
// to docs/runbooks.md.
package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type rule struct {
	Record      string
	Alert       string
	Expr        string
	Labels      map[string]string
	Annotations map[string]string
}

// rules reads every rule, in the order in which Prometheus does.
func rules(t *testing.T) (all []rule) {
	t.Helper()
	files, err := filepath.Glob("rules/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	for _, f := range files {
		var content struct{ Groups []struct{ Rules []rule } }
		if err := yaml.Unmarshal(read(t, f), &content); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, g := range content.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

func alerts(t *testing.T) []rule {
	t.Helper()
	return slices.DeleteFunc(rules(t), func(r rule) bool { return r.Alert == "" })
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// panels gives every query of the dashboard under the title of its panel.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Annotations struct{ List []struct{ Name, Expr string } }
	}
	if err := json.Unmarshal(read(t, "grafana/dashboards/anet-hub.json"), &board); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			all[p.Title] = append(all[p.Title], q.Expr)
		}
	}
	for _, v := range board.Templating.List {
		if query, ok := strings.CutPrefix(v.Query, "label_values("); ok {
			series, label, _ := cutLast(strings.TrimSuffix(query, ")"), ",")
			all["variable "+v.Name] = []string{fmt.Sprintf("sum by (%s) (%s)", strings.TrimSpace(label), series)}
		}
	}
	for _, a := range board.Annotations.List {
		all["annotation "+a.Name] = []string{a.Expr}
	}
	return all
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Everything that a rule or a panel asks for is there to be asked for.
func TestQueriesAskForWhatTheHubOffers(t *testing.T) {
	c := checker{t, offered(t), values(t)}
	// Records first: alerts and panels stand on them.
	for _, r := range rules(t) {
		if r.Record != "" {
			c.known[r.Record] = c.check("record "+r.Record, r.Expr)
		}
	}
	for _, a := range alerts(t) {
		labels := c.check("alert "+a.Alert, a.Expr)
		c.templates(a, labels)
	}
	queries := panels(t)
	for title, all := range queries {
		for _, q := range all {
			c.check("panel "+title, q)
		}
	}
	if len(queries) < 20 {
		t.Errorf("only %d panels were found in the dashboard", len(queries))
	}
}

// checker holds queries to what is known.
type checker struct {
	t      *testing.T
	known  catalog
	values map[string][]string
}

// check gives the labels of a query's result: those it sums by, else those of
// the first series in it.
func (c *checker) check(where, query string) (labels []string) {
	c.t.Helper()
	e, err := scan(query)
	if err != nil || len(e.selectors) == 0 && !strings.Contains(query, "vector(") {
		c.t.Errorf("%s: not a query that can be checked: %v", where, err)
	}
	for _, s := range e.selectors {
		has, ok := c.known[s.name]
		if !ok {
			c.t.Errorf("%s asks for %s, which no hub has", where, s.name)
			continue
		}
		labels = append(labels, has...)
		for _, m := range s.matchers {
			c.matcher(where, s.name, m, has)
		}
	}
	for _, label := range e.sums {
		if !slices.Contains(labels, label) {
			c.t.Errorf("%s sums by %s, which none of its series has", where, label)
		}
	}
	if len(e.sums) > 0 {
		return e.sums
	}
	return labels
}

func (c *checker) matcher(where, series string, m matcher, has []string) {
	c.t.Helper()
	if !slices.Contains(has, m.label) {
		c.t.Errorf("%s: %s has no label %s, it has %q", where, series, m.label, has)
	}
	known, closed := c.values[m.label]
	if !closed || strings.Contains(m.value, "$") {
		return
	}
	for _, one := range strings.Split(m.value, "|") {
		like, err := regexp.Compile("^(?:" + one + ")$")
		if err != nil || !slices.ContainsFunc(known, func(v string) bool { return v == one || strings.Contains(m.op, "~") && like.MatchString(v) }) {
			c.t.Errorf("%s: no %s is ever %q (%v)", where, m.label, one, err)
		}
	}
}

var labelInText = regexp.MustCompile(`\$labels\.([a-z_]+)`)

// templates wants the labels that an alert's words speak of.
func (c *checker) templates(a rule, labels []string) {
	c.t.Helper()
	for _, m := range labelInText.FindAllStringSubmatch(a.Annotations["summary"], -1) {
		if !slices.Contains(labels, m[1]) {
			c.t.Errorf("the summary of %s speaks of the label %s, which its query does not keep", a.Alert, m[1])
		}
	}
}

// Every alert says how bad it is, in words, and where it is said what to do.
func TestAlertsAreComplete(t *testing.T) {
	for _, a := range alerts(t) {
		if s := a.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity %q", a.Alert, s)
		}
		if a.Annotations["summary"] == "" {
			t.Errorf("%s has no summary", a.Alert)
		}
		if got, want := a.Annotations["runbook_url"], runbooks+"#"+strings.ToLower(a.Alert); got != want {
			t.Errorf("%s: runbook_url %q, want %q", a.Alert, got, want)
		}
	}
}
