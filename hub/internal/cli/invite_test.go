package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type shownInvite struct {
	ID, State, Token, File string
	MaxUses                int `json:"max_uses"`
	Uses                   int
	ExpiresAt, RevokedAt   *string
}

// The token stands alone on the last line, once, and nowhere afterwards.
func TestATokenIsShownOnce(t *testing.T) {
	o := newOperator(t)
	out, _ := o.wants(0, "invite", "create", "--uses", "2", "--label", "the lab")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	token := lines[len(lines)-1]
	if !strings.HasPrefix(token, "anetinv_") || len(token) != 40 {
		t.Fatalf("the last line is %q", token)
	}
	file := filepath.Join(t.TempDir(), "invite")
	out, _ = o.wants(0, "invite", "create", "--out", file)
	kept, err := os.ReadFile(file)
	if err != nil || len(strings.TrimSpace(string(kept))) != 40 || strings.Contains(out, strings.TrimSpace(string(kept))) {
		t.Errorf("the file: %v; printed: %s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	o.wants(2, "invite", "create", "--out", file) // which it does not write over
	var list struct{ Invites []shownInvite }
	o.read(&list, 0, "invite", "list")
	if len(list.Invites) != 2 {
		t.Fatalf("%d invites, want 2: what has no place to go is not made", len(list.Invites))
	}
	id := list.Invites[1].ID
	for _, args := range [][]string{
		{"invite", "list"}, {"invite", "list", "--json"}, {"invite", "show", id}, {"invite", "show", id, "--json"},
		{"audit"}, {"audit", "--json"}, {"invite", "revoke", id, "--yes", "--log-level", "debug"}, {"audit", "--json"},
	} {
		out, says := o.wants(0, args...)
		if strings.Contains(out+says, token[8:]) {
			t.Errorf("anet-hub %v prints the token", args)
		}
	}
}

// A holder learns what the token is good for, and uses nothing by asking.
func TestCheckingAToken(t *testing.T) {
	o := newOperator(t)
	var made shownInvite
	o.read(&made, 0, "invite", "create", "--expires", "never")
	file := filepath.Join(t.TempDir(), "invite")
	if err := os.WriteFile(file, []byte(made.Token+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said struct {
		Usable bool
		Code   string
		Invite *shownInvite
	}
	for range 3 {
		if o.read(&said, 0, "invite", "check", "--token-file", file); !said.Usable || said.Invite.Uses != 0 {
			t.Errorf("a good one: %+v", said)
		}
	}
	o.stdin = made.Token
	o.wants(0, "invite", "check", "--token-file", "-")
	o.env["ANET_INVITE"] = made.Token
	o.wants(0, "invite", "check")
	o.wants(0, "invite", "revoke", made.ID, "--yes")
	if o.read(&said, 3, "invite", "check"); said.Usable || said.Code != "invite_revoked" {
		t.Errorf("a revoked one: %+v", said)
	}
	o.env["ANET_INVITE"] = "prose"
	said.Invite = nil
	if o.read(&said, 3, "invite", "check"); said.Code != "invite_unknown" || said.Invite != nil {
		t.Errorf("none: %+v", said)
	}
	o.wants(1, "invite", "check", "--token-file", filepath.Join(t.TempDir(), "nothing"))
}

// Nothing is revoked before somebody agreed; a look at what would happen is free.
func TestRevokingAsksFirst(t *testing.T) {
	o := newOperator(t)
	var made, now shownInvite
	o.read(&made, 0, "invite", "create")
	o.env["ANET_HUB_YES"] = "true" // which agrees to nothing
	_, says := o.wants(2, "invite", "revoke", made.ID)
	if !strings.Contains(says, "Nobody came in by it") || !strings.Contains(says, "--yes") {
		t.Errorf("it says %s", says)
	}
	o.wants(0, "invite", "revoke", made.ID, "--dry-run", "--block-members")
	if o.read(&now, 0, "invite", "show", made.ID); now.State != "usable" {
		t.Fatalf("afterwards it is %s", now.State)
	}
	o.wants(0, "invite", "revoke", made.ID, "--yes", "--reason", "it leaked")
	if o.read(&now, 0, "invite", "show", made.ID); now.State != "revoked" {
		t.Errorf("afterwards it is %s", now.State)
	}
	o.wants(1, "invite", "revoke", made.ID, "--yes")
	var log struct {
		Acts []struct{ Who, How, What, Target, Reason string }
	}
	o.read(&log, 0, "audit", "--since", "1h")
	if len(log.Acts) != 2 || log.Acts[0].What != "invite.revoke" || log.Acts[0].Target != made.ID ||
		log.Acts[0].Reason != "it leaked" || log.Acts[0].Who == "" || !strings.HasPrefix(log.Acts[0].How, "command line") {
		t.Errorf("the log: %+v", log.Acts)
	}
}

func TestWhoIsBehindSudo(t *testing.T) {
	env := map[string]string{"SUDO_USER": "alice"}
	who, how := whoami(func(k string) string { return env[k] })
	if os.Geteuid() == 0 && (who != "alice" || !strings.HasSuffix(how, "as root")) || os.Geteuid() != 0 && who == "alice" {
		t.Errorf("%s, %s", who, how)
	}
}

func TestShellsAreOfferedIDs(t *testing.T) {
	o := newOperator(t)
	var made shownInvite
	o.read(&made, 0, "invite", "create", "--label", "the lab")
	if out, _ := o.wants(0, "__complete", "invite", "revoke", ""); !strings.Contains(out, made.ID+"\tthe lab") {
		t.Errorf("offered: %s", out)
	}
	nobody := &operator{t: t}
	if out, _ := nobody.wants(0, "__complete", "invite", "show", "--data-dir", t.TempDir(), ""); !strings.HasPrefix(out, ":4") {
		t.Errorf("without a hub: %s", out)
	}
}

func TestIdentityOfAHub(t *testing.T) {
	o := newOperator(t)
	var before, after struct {
		AID string
		Seq int
	}
	o.read(&before, 0, "identity", "show")
	o.read(&after, 0, "identity", "rotate", "--reason", "the yearly one")
	if after.AID != before.AID || after.Seq != before.Seq+1 {
		t.Errorf("%+v, then %+v", before, after)
	}
	if out, _ := o.wants(0, "audit"); !strings.Contains(out, "identity.rotate") || !strings.Contains(out, "the yearly one") {
		t.Errorf("the log: %s", out)
	}
}
