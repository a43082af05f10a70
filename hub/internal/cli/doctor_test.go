package cli

import (
	"strings"
	"testing"
)

func TestDoctorCommandLine(t *testing.T) {
	o := newOperator(t)
	for _, tt := range []struct {
		code       int
		line, says string
	}{
		{2, "doctor --domain hub.example.org --url https://hub.example.org", "give one"},
		{2, "doctor --url hub.example.org", "looks like https://hub.example.org"},
		{2, "doctor --domain https://hub.example.org", "looks like https://hub.example.org"},
		{2, "doctor --domain hub.example.org/x", "looks like https://hub.example.org"},
		{2, "doctor --ca-file /nowhere", "/nowhere"},
		{2, "doctor --ca-file /dev/null", "no certificate"},
		{2, "doctor hub.example.org", "takes no arguments"},
		{3, "doctor --url http://127.0.0.1:1", "found something"},
	} {
		if _, says := o.wants(tt.code, strings.Fields(tt.line)...); !strings.Contains(says, tt.says) {
			t.Errorf("anet-hub %s says %q, want %q in it", tt.line, says, tt.says)
		}
	}
}

// A hub that does not answer has a database all the same, and it is looked at.
func TestDoctorLooksAtTheDatabase(t *testing.T) {
	o := newOperator(t)
	o.env["ANET_HUB_PUBLIC_URL"] = "http://127.0.0.1:1"
	var seen struct {
		URL    string
		Checks []struct{ Check, Status, Message, Why, Next string }
	}
	o.read(&seen, 3, "doctor")
	status := map[string]string{}
	for _, c := range seen.Checks {
		if status[c.Check] == "" { // the test's own database is a fast one, and found to be
			status[c.Check] = c.Status
		}
	}
	for check, want := range map[string]string{"connection": "finding", "database": "ok", "schema": "ok", "clock": "ok", "backup": "finding", "disk": "skipped"} {
		if status[check] != want {
			t.Errorf("%s: %s, want %s in %+v", check, status[check], want, seen)
		}
	}
	if seen.URL != "http://127.0.0.1:1" {
		t.Errorf("it looked at %s", seen.URL)
	}
}
