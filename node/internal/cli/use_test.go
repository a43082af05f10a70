package cli

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/cmdline"
)

// What cannot be right is told before anything is done, with a word about what
// would be.
func TestWrongUse(t *testing.T) {
	p := newPerson(t)
	p.wants(exitDone, "init")
	tests := []struct{ line, says string }{
		{"fly", `no command "fly"`},
		{"peers fly", `no command "fly"`},
		{"status now", "takes no arguments"},
		{"status --jsn", "unknown flag"},
		{"card", "an AID is missing"},
		{"card digester", "no full AID"},
		{"peers allow bafy", "no full AID"},
		{"peers allow " + somebody, "--yes"},
		{"peers trust " + somebody, "with your rights"},
		{"inbound policy open", "--yes"},
		{"inbound policy approve", "closed or open"},
		{"inbound policy opne", "closed or open"},
		{"visibility federated", "--yes"},
		{"visibility friends --yes", "hub-local, federated or public"},
		{"visibility federated public", "nothing more"},
		{"find a b", "in quotes"},
		{"find words --cap text.digest", "different questions"},
		{"find --cap a*b", "'*'"},
		{"find --cap ,", "names no capability"},
		{"find --limit 0", "from 1 to 1000"},
		{"delegate " + somebody, "say what to do"},
		{"delegate bafy hello", "no full AID"},
		{"delegate " + somebody + " hello --capability a", "not both"},
		{"delegate " + somebody + " hello --args {}", "go with a --capability"},
		{"delegate " + somebody + " --capability a --args [1]", "JSON object"},
		{"delegate " + somebody + " --capability a --args null", "JSON object"},
		{"delegate " + somebody + ` --capability a --args {"a":1,"a":2}`, "JSON object"},
		{"delegate " + somebody + " --capability a --args {}{}", "JSON object"},
		{"delegate " + somebody + " --capability a --wait 0s", "such as 30s"},
		{"delegate " + somebody + " --capability a --wait soon", "--wait"},
		{"message t", "a text is missing"},
		{"task list --role boss", "requester or provider"},
		{"profile set", "say what to set"},
		{"identity export -", "not printed"},
		{"up --log-level loud", "none of debug"},
	}
	for _, tt := range tests {
		_, says := p.wants(exitUse, strings.Fields(tt.line)...)
		if !strings.Contains(says, tt.says) {
			t.Errorf("anet %s says %q, want %q in it", tt.line, says, tt.says)
		}
	}
}

// Errors tell the next step, and as JSON where JSON was asked for.
func TestErrorsTellTheNextStep(t *testing.T) {
	nobody, p := newPerson(t), newPerson(t)
	p.wants(exitDone, "init")
	tests := []struct {
		who        *person
		line, says string
		code       int
	}{
		{nobody, "status", "anet init", exitError},
		{nobody, "task list", "anet init", exitError},
		{p, "task list", "anet up", exitRefused},
		{p, "up", "anet join URL", exitRefused},
		{p, "find", "anet join URL", exitRefused},
		{p, "hub-register", "anet join URL", exitRefused},
		{p, "hub-leave", "anet join URL", exitRefused},
	}
	for _, tt := range tests {
		if _, says := tt.who.wants(tt.code, strings.Fields(tt.line)...); !strings.Contains(says, tt.says) {
			t.Errorf("anet %s says %q, want %q in it", tt.line, says, tt.says)
		}
	}
	out, _ := p.wants(exitRefused, "task", "list", "--json")
	got := decoded[cmdline.Problem](t, out)
	if got.Code != "node_not_running" || got.Exit != exitRefused || got.Error == "" {
		t.Errorf("as JSON: %+v", got)
	}
}

// A secret in the wrong place is refused and not repeated: what the program
// prints ends up in logs and in bug reports.
func TestSecretsAreNotRepeated(t *testing.T) {
	p := newPerson(t)
	const secret = "S3CRET-INVITE"
	for _, line := range []string{
		"join http://127.0.0.1:1 --token " + secret,
		"join http://127.0.0.1:1 --invite=" + secret,
		"join http://127.0.0.1:1/?token=" + secret,
		"join http://u:" + secret + "@127.0.0.1:1",
		"join http://127.0.0.1:1/#" + secret,
		"join http://127.0.0.1:1 " + secret,
		"join " + secret,
		"join http://127.0.0.1:1 --tokn=" + secret,
		"hub-register --token " + secret,
		"up " + secret,
	} {
		out, says := p.wants(exitUse, strings.Fields(line+" --json")...)
		if strings.Contains(out+says, secret) {
			t.Errorf("anet %s repeats it: %s%s", strings.ReplaceAll(line, secret, "…"), out, says)
		}
	}
	p.env[inviteVariable] = secret
	out, says := p.wants(exitRefused, "join", "http://127.0.0.1:1")
	if strings.Contains(out+says, secret) {
		t.Errorf("from the environment: %s%s", out, says)
	}
}
