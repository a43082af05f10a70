package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// Compose takes docker-compose.yml with each of its profiles, and a profile adds
// what it says.
func TestComposeFileIsTaken(t *testing.T) {
	t.Parallel()
	compose := need.ComposeProgram(t)
	for profile, adds := range map[string][]string{"": nil, "monitoring": {"prometheus", "grafana"}, "faults": {"faults"}} {
		line := slices.Concat(compose, []string{"--profile", profile, "config", "--services"})
		if profile == "" {
			line = slices.Concat(compose, []string{"config", "--services"})
		}
		out := stage.Run(t, time.Minute, stage.Command{Name: "compose", Path: line[0], Args: line[1:], Dir: stage.Root()})
		if out.Code != 0 {
			t.Errorf("profile %q: %s", profile, out)
		}
		for _, service := range append(adds, "hub-a", "hub-b", "postgres-a", "postgres-b", "text-desk", "alice", "bob") {
			if !slices.Contains(strings.Fields(out.Out), service) {
				t.Errorf("profile %q has no service %s: %s", profile, service, out)
			}
		}
	}
}

// Nobody gets what he did not ask for: all that profiles add is theirs alone.
func TestProfilesKeepToThemselves(t *testing.T) {
	text, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Profiles []string
			Ports    []string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for service, profile := range map[string]string{"prometheus": "monitoring", "grafana": "monitoring", "faults": "faults"} {
		if got := file.Services[service].Profiles; !slices.Equal(got, []string{profile}) {
			t.Errorf("%s belongs to the profiles %q, want %s", service, got, profile)
		}
	}
	for name, s := range file.Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s is open to other machines at %s", name, port)
			}
		}
	}
}
