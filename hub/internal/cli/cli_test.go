package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/pgtest"
)

// operator types commands for one hub.
type operator struct {
	t     *testing.T
	env   map[string]string
	stdin string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	url := pgtest.URL(t)
	db, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = hubkey.Open(t.Context(), postgres.NewIdentity(db.Pool, time.Now), time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return &operator{t: t, env: map[string]string{app.EnvDatabaseURL: url}}
}

func (o *operator) typed(args ...string) (code int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	p := &Program{
		In: strings.NewReader(o.stdin), Out: &stdout, Err: &stderr, Now: time.Now,
		Getenv: func(name string) string { return o.env[name] },
	}
	code = p.Main(context.Background(), args)
	return code, stdout.String(), stderr.String()
}

// wants runs a command that must end with the code, and gives its words.
func (o *operator) wants(code int, args ...string) (out, errOut string) {
	o.t.Helper()
	got, out, errOut := o.typed(args...)
	if got != code {
		o.t.Errorf("anet-hub %s ended with %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errOut)
	}
	return out, errOut
}

// read runs a command with --json and reads what it printed.
func (o *operator) read(v any, code int, args ...string) {
	o.t.Helper()
	out, _ := o.wants(code, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		o.t.Errorf("anet-hub %s prints no JSON value: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// Every command shows how it is used, and the page for operators names it.
func TestHelpAndPageAreComplete(t *testing.T) {
	b, err := os.ReadFile("../../../docs/hub.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	each((&Program{}).root(), func(c *cobra.Command) {
		if !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s has no example of itself:\n%s", c.CommandPath(), c.Example)
		}
		if !c.HasSubCommands() && c.Parent().Name() != "completion" && !strings.Contains(page, strings.TrimPrefix(c.CommandPath(), "anet-hub ")) {
			t.Errorf("docs/hub.md does not name %s", c.CommandPath())
		}
	})
}

// Every operator command has the flags of the skeleton; what changes something
// takes a reason.
func TestOperatorCommandsAreAlike(t *testing.T) {
	acts := map[string]bool{
		"anet-hub invite create": true, "anet-hub invite revoke": true, "anet-hub identity rotate": true,
		"anet-hub agent hide": true, "anet-hub agent unhide": true, "anet-hub agent block": true, "anet-hub agent unblock": true,
		"anet-hub agent remove": true, "anet-hub block add": true, "anet-hub block remove": true,
		"anet-hub peer add": true, "anet-hub peer set": true, "anet-hub peer pause": true, "anet-hub peer resume": true,
		"anet-hub peer remove": true,
		"anet-hub backup":      true, "anet-hub restore": true, "anet-hub credit grant": true, "anet-hub credit audit": true,
		"anet-hub credit allow": true, "anet-hub credit disallow": true, "anet-hub credit clear": true,
	}
	each((&Program{}).root(), func(c *cobra.Command) {
		top := c
		for top.Parent() != nil && top.Parent().HasParent() {
			top = top.Parent()
		}
		if top.GroupID != groupOperate || c.HasSubCommands() {
			return
		}
		for _, name := range []string{"json", "data-dir", "database-url-file", "log-level"} {
			if c.Flags().Lookup(name) == nil {
				t.Errorf("%s has no --%s", c.CommandPath(), name)
			}
		}
		if has := c.Flags().Lookup("reason") != nil; has != acts[c.CommandPath()] {
			t.Errorf("%s has --reason: %v", c.CommandPath(), has)
		}
	})
}

// What cannot be right ends with 2, what goes wrong with 1, and neither repeats
// a token that was typed in the wrong place.
func TestWrongUse(t *testing.T) {
	const token = "anetinv_mfrggzdfmztwq2lknnwg23tpobyxe43u"
	const nobody = "bafyreigtala4crn2jjs7fzyuaxsknhnstc7joihe6n6gw6tg42ujzc2qbe"
	o := newOperator(t)
	tests := []struct {
		code int
		line string
		says string
	}{
		{2, "fly", `no command "fly"`},
		{2, "invite fly", `no command "fly"`},
		{2, "invite show", "an invite's id is missing"},
		{2, "invite show a b", "nothing more"},
		{2, "invite revoke", "an invite's id is missing"},
		{1, "invite show aaaaaaaa", "no invite has this id"},
		{1, "invite show " + token, "no invite has this id"},
		{1, "invite revoke aaaaaaaa --yes", "no invite has this id"},
		{1, "invite revoke " + token + " --yes", "no invite has this id"},
		{2, "invite check " + token, "takes no arguments"},
		{2, "invite check --token " + token, "unknown flag"},
		{2, "invite check", "--token-file"},
		{2, "invite create " + token, "takes no arguments"},
		{2, "invite create --uses -1", "0 for any number"},
		{2, "invite create --uses many", "invalid argument"},
		{2, "invite create --expires soon", "7d, 12h or 90m, or never"},
		{2, "invite create --expires -1h", "7d, 12h or 90m, or never"},
		{2, "invite create --expires 40000d", "a hundred years"},
		{2, "invite create --label " + token, "must not stand in it"},
		{2, "invite create --reason " + token, "must not stand in it"},
		{2, "invite create --out /", "a new file"},
		{2, "agent hide bafy", "no agent id"},
		{2, "agent hide", "an AID is missing"},
		{2, "agent hide AID AID", "nothing more"},
		{1, "agent show " + nobody, "ever registered here"},
		{1, "agent hide " + nobody, "ever registered here"},
		{1, "agent unhide " + nobody, "ever registered here"},
		{1, "agent block " + nobody, "ever registered here"},
		{1, "agent unblock " + nobody, "not blocked"},
		{1, "agent remove " + nobody + " --yes", "ever registered here"},
		{2, "agent list --only noisy", "registered, left, blocked"},
		{2, "agent list --limit 0", "at least 1"},
		{2, "agent list --after here", "no agent id"},
		{2, "block add " + nobody, "a target is missing"},
		{2, "block add name alice", "an aid or a host"},
		{2, "block add host example.org", "an address"},
		{2, "block add host 0.0.0.0/0", "every address"},
		{2, "block add aid 203.0.113.7", "no agent id"},
		{2, "block add host 203.0.113.7 --expires soon", "7d, 12h or 90m, or never"},
		{1, "block remove host 203.0.113.7", "not blocked"},
		{1, "block remove aid " + nobody, "not blocked"},
		{2, "peer add", "a URL is missing"},
		{2, "peer add hub.example.org", "begins with https://"},
		{2, "peer add file:///etc/passwd", "begins with https://"},
		{2, "peer add http://0x7f.1/", "an address is written as"},
		{2, "peer add http://2130706433/", "an address is written as"},
		{1, "peer add http://10.0.0.5/", "not on the internet"},
		{1, "peer add https://10.0.0.5/", "not on the internet"},
		{1, "peer add http://169.254.169.254/", "not on the internet"},
		{1, "peer add http://127.0.0.1:5432", "not on the internet"},
		{2, "peer add https://me:" + token + "@hub.example.org", "no place in it"},
		{2, "peer add https://hub.example.org --aid bafy", "no agent id"},
		{2, "peer add https://hub.example.org --delivery maybe", "neither on nor off"},
		{2, "peer add https://127.0.0.1 --peer-allow-range here", "no address range"},
		{1, "peer add https://127.0.0.1", "not on the internet"},
		{1, "peer add http://[::1]:8088", "not on the internet"},
		{1, "peer add https://169.254.169.254 --aid " + nobody, "not on the internet"},
		{2, "peer add https://127.0.0.1:1 --peer-allow-range 127.0.0.0/8 --name Lab --aid " + nobody, "a peer's name"},
		{1, "peer add https://127.0.0.1:1 --peer-allow-range 127.0.0.0/8", "nothing listens there"},
		{2, "peer show", "a peer's name, AID or URL is missing"},
		{1, "peer show " + nobody, "no peer has this name"},
		{1, "peer set lab --delivery off", "no peer has this name"},
		{1, "peer pause " + token, "no peer has this name"},
		{1, "peer resume lab", "no peer has this name"},
		{1, "peer remove lab --yes", "no peer has this name"},
		{2, "credit grant " + nobody, "an amount is missing"},
		{2, "credit grant " + nobody + " 0", "between 1 and"},
		{2, "credit grant " + nobody + " 9223372036854775808", "between 1 and"},
		{2, "credit grant " + nobody + " 1.5", "no whole number"},
		{2, "credit grant bafy 1", "no agent id"},
		{1, "credit grant " + nobody + " 1 --yes", "ever registered here"},
		{2, "credit balance", "an AID is missing"},
		{2, "credit ledger " + nobody + " --limit 0", "from 1 to 500"},
		{2, "credit audit now", "takes no arguments"},
		{1, "credit allow lab --limit 10", "no peer has this name"},
		{2, "credit allow lab --limit -1", "invalid argument"},
		{1, "credit clear lab 10 --yes", "no peer has this name"},
		{2, "credit clear lab", "an amount is missing"},
		{2, "credit clear lab 0", "between 1 and"},
		{2, "why", "an AID is missing"},
		{2, "why " + nobody + " --cap text.*", "without a wildcard"},
		{2, "backup", "a file is missing"},
		{2, "backup /", "is a folder"},
		{1, "backup /nowhere/at/all", "no such file"},
		{2, "backup - --json", "not both"},
		{1, "restore /nowhere/at/all", "no such file"},
		{2, "restore /dev/null", "it is no backup of a hub"},
		{2, "restore --check --into-empty x", "none of the others can be"},
		{2, "migrate " + token, "takes no arguments"},
		{2, "audit --since yesterday", "7d, 12h or 90m"},
		{2, "audit --limit 0", "at least 1"},
		{2, "audit --log-level loud", "--log-level"},
	}
	for _, tt := range tests {
		out, says := o.wants(tt.code, strings.Fields(tt.line)...)
		if !strings.Contains(says, tt.says) {
			t.Errorf("anet-hub %s says %q, want %q in it", tt.line, says, tt.says)
		}
		if strings.Contains(out+says, token) {
			t.Errorf("anet-hub %s repeats the token:\n%s%s", tt.line, out, says)
		}
	}
	var problem struct {
		Code string
		Exit int
	}
	if o.read(&problem, 1, "invite", "show", "aaaaaaaa"); problem.Code != "invite_unknown" || problem.Exit != 1 {
		t.Errorf("as JSON: %+v", problem)
	}
}

// An operator who mistypes the folder makes no hub, and is told so.
func TestNoHubIsMade(t *testing.T) {
	o := &operator{t: t}
	dir := filepath.Join(t.TempDir(), "hbu")
	if _, says := o.wants(1, "invite", "list", "--data-dir", dir); !strings.Contains(says, "no hub is running on") {
		t.Errorf("it says %s", says)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder: %v", err)
	}
}
