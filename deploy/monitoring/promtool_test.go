package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anet-hub/anet/shared/testkit/need"
)

// promtool is Prometheus' own word.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command(need.Program(t, "promtool"), args...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestPrometheusTakesTheConfiguration(t *testing.T) {
	promtool(t, "check", "config", "prometheus.yml") // and the rules it names
}

func TestRulesRingAsTold(t *testing.T) {
	promtool(t, "test", "rules", "tests/alerts.yml")
}

// The story file shows every alert, at each severity, ring.
func TestEveryAlertRingsInAStory(t *testing.T) {
	told := string(read(t, "tests/alerts.yml"))
	for _, a := range alerts(t) {
		rings := `{alertname="` + a.Alert + `", severity="` + a.Labels["severity"] + `"}`
		if !strings.Contains(told, rings) {
			t.Errorf("no story in tests/alerts.yml ends with %s", rings)
		}
	}
}

// Panels are read by the browser of whoever opens the dashboard: here their
// queries are parsed as those of rules, with values for Grafana's variables.
func TestPrometheusTakesThePanels(t *testing.T) {
	fill := strings.NewReplacer("$__rate_interval", "1m", "$instance", ".+", "$job", "anet-hub")
	var all []map[string]string
	for _, queries := range panels(t) {
		for _, q := range queries {
			if !strings.Contains(q, "label_values") {
				all = append(all, map[string]string{"record": "panel", "expr": fill.Replace(q)})
			}
		}
	}
	// promtool takes no rule twice.
	slices.SortFunc(all, func(a, b map[string]string) int { return strings.Compare(a["expr"], b["expr"]) })
	all = slices.CompactFunc(all, func(a, b map[string]string) bool { return a["expr"] == b["expr"] })
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": all}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "panels.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint=none", file)
}
