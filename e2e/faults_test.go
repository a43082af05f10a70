package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// TestFaultsAreSeenAndPass breaks the hub of docker-compose.yml in every way the
// profile faults has, with the profile monitoring watching: a real Prometheus
// rings for what is broken, and stops when it is mended.
func TestFaultsAreSeenAndPass(t *testing.T) {
	n := newNetwork(t, "anetfaults", "ANET_HUB_IMAGE=anet-hub-faults:local",
		"ANET_PROMETHEUS_IMAGE=anet-prometheus:local", "ANET_PROMETHEUS_PORT=0", "ANET_PROMETHEUS_CONFIG="+hasty(t))
	command(t, nil, "make", "faults-images")
	command(t, nil, "deploy/images.sh", "prometheus")
	n.must(t, "--profile", "monitoring", "up", "--detach", "prometheus")
	p := prometheus("http://" + strings.TrimSpace(n.must(t, "port", "prometheus", "9090")))
	stage.Until(t, stage.Patience, "Prometheus scrapes the hub", func() bool { return p.value(`up{job="anet-hub"}`) == "1" })

	for _, tt := range []struct {
		fault, alert string
	}{
		{"hub-down", "AnetHubDown"},
		{"clock", "AnetHubClockOff"},
		{"database-restart", ""}, // over before anybody is called
	} {
		done := make(chan stage.Output, 1)
		go func() { done <- n.run(t, "--profile", "faults", "run", "--rm", "faults", tt.fault, "--for", "50s") }()
		if tt.alert != "" {
			stage.Until(t, 3*time.Minute, tt.alert+" rings", func() bool { return slices.Contains(p.ringing(), tt.alert) })
		}
		if out := <-done; out.Code != 0 {
			t.Errorf("%s: %s", tt.fault, out)
		}
		stage.Until(t, 2*stage.Patience, "nothing rings after "+tt.fault, func() bool { return len(p.ringing()) == 0 })
	}
}

// hasty is the configuration with less time between two looks.
func hasty(t *testing.T) (file string) {
	t.Helper()
	text, err := os.ReadFile("../deploy/monitoring/prometheus.yml")
	stage.Must(t, err)
	file = filepath.Join(t.TempDir(), "prometheus.yml")
	stage.Must(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "_interval: 15s", "_interval: 1s")), 0o644))
	return file
}

// prometheus is where one answers.
type prometheus string

// value is the value of a query with one series in its result.
func (p prometheus) value(query string) string {
	var answer struct {
		Data struct {
			Result []struct{ Value []any }
		}
	}
	if p.get("/api/v1/query?query="+url.QueryEscape(query), &answer) != nil || len(answer.Data.Result) != 1 {
		return ""
	}
	s, _ := answer.Data.Result[0].Value[1].(string)
	return s
}

// ringing are the alerts that fire, but those of backups, which nobody makes here.
func (p prometheus) ringing() (names []string) {
	var answer struct {
		Data struct {
			Alerts []struct {
				Labels map[string]string
				State  string
			}
		}
	}
	if err := p.get("/api/v1/alerts", &answer); err != nil {
		return []string{err.Error()}
	}
	for _, a := range answer.Data.Alerts {
		if name := a.Labels["alertname"]; a.State == "firing" && !strings.HasPrefix(name, "AnetHubBackup") {
			names = append(names, name)
		}
	}
	return names
}

func (p prometheus) get(path string, v any) error {
	resp, err := http.Get(string(p) + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(v)
}
