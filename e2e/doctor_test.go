package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// examined is what anet-hub doctor --json prints.
type examined struct {
	Healthy bool
	Checks  []struct{ Check, Status, Message, Next string }
}

// findings are the checks that found something, by name.
func (e examined) findings() map[string]string {
	found := map[string]string{}
	for _, c := range e.Checks {
		if c.Status == "finding" {
			found[c.Check] = c.Message + " -> " + c.Next
		}
	}
	return found
}

func doctor(t *testing.T, hub *stage.HubProcess, p *stage.Proxy, args ...string) (code int, e examined) {
	t.Helper()
	args = append([]string{"doctor", "--json", "--url", p.URL, "--ca-file", p.CA, "--data-dir", hub.Config.DataDir}, args...)
	out := stage.Run(t, 2*time.Minute, stage.Command{Name: "anet-hub", Path: stage.Binary(t, "anet-hub"), Args: args})
	if err := json.Unmarshal([]byte(out.Out), &e); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out.Code, e
}

// Doctor finds what is wrong with a proxy, and nothing where nothing is. A hub
// that was just made has no backup, which it says each time.
func TestDoctorLooksThroughAProxy(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	const bodies, real, read = "client_max_body_size 130m;", "proxy_set_header X-Real-IP $remote_addr;", "proxy_read_timeout 75s;"
	for _, tt := range []struct {
		name    string
		start   func(testing.TB, *stage.Hub, ...string) *stage.Proxy
		replace []string
		args    []string
		finds   string
	}{
		{"nginx as we show it", stage.Nginx, nil, []string{"--slow"}, ""},
		{"caddy as we show it", stage.Caddy, nil, []string{"--slow"}, ""},
		{"nginx with its own limit", stage.Nginx, []string{bodies, ""}, nil, "body"},
		{"nginx that passes addresses on", stage.Nginx, []string{real, ""}, nil, "client"},
		{"caddy that passes addresses on", stage.Caddy, []string{"header_up X-Real-IP {remote_host}", ""}, nil, "client"},
		{"nginx that has no patience", stage.Nginx, []string{read, "proxy_read_timeout 20s;"}, []string{"--slow"}, "poll"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := tt.start(t, hub.Hub, tt.replace...)
			code, seen := doctor(t, hub, p, tt.args...)
			found := seen.findings()
			if found["backup"] == "" || code != 3 || seen.Healthy {
				t.Errorf("exit %d, want 3 for the backup: %+v", code, seen)
			}
			delete(found, "backup")
			if tt.finds != "" && found[tt.finds] == "" {
				t.Errorf("nothing was found of the %s: %+v", tt.finds, seen)
			}
			delete(found, tt.finds)
			if len(found) > 0 {
				t.Errorf("it also found %v", found)
			}
		})
	}
}

// It looks at a hub that does not run, and starts nothing.
func TestDoctorOfAHubThatIsDown(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	_, err := hub.Stop(t)
	stage.Must(t, err)
	out := hub.Operate(t, "doctor", "--json", "--url", hub.URL)
	var seen examined
	stage.Must(t, json.Unmarshal([]byte(out.Out), &seen))
	found := seen.findings()
	if out.Code != 3 || found["connection"] == "" || found["database"] == "" || hub.Postmaster() != 0 {
		t.Errorf("postmaster %d, %s", hub.Postmaster(), out)
	}
}
