package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/migrations"
)

// TestBackupByHand is an operator's way: back up, prove, lose, restore.
func TestBackupByHand(t *testing.T) {
	o := newOperator(t)
	file := filepath.Join(t.TempDir(), "hub")
	var own struct{ AID string }
	o.read(&own, 0, "identity", "show")
	var made struct{ Hub, File, SHA256 string }
	if o.read(&made, 0, "backup", file, "--reason", "the nightly one"); made.Hub != own.AID || made.File != file || len(made.SHA256) != 64 {
		t.Errorf("it made %+v", made)
	}
	o.wants(1, "backup", file)
	o.wants(0, "backup", file, "--force")
	out, _ := o.wants(0, "backup", "-")
	if stdout := filepath.Join(t.TempDir(), "stdout"); os.WriteFile(stdout, []byte(out), 0o600) == nil {
		o.wants(0, "restore", "--check", stdout)
		o.cut(stdout)
	}
	var verdict struct {
		Proven bool
		Wrong  []string
	}
	if o.read(&verdict, 0, "restore", "--check", file); !verdict.Proven || verdict.Wrong == nil {
		t.Errorf("the verdict: %+v", verdict)
	}
	if _, says := o.wants(1, "restore", file); !strings.Contains(says, "--into-empty") {
		t.Errorf("over the hub itself: %s", says)
	}
	other := &operator{t: t, env: map[string]string{app.EnvDatabaseURL: pgtest.Empty(t)}}
	other.wants(0, "restore", file)
	var restored struct{ AID string }
	if other.read(&restored, 0, "identity", "show"); restored.AID != own.AID {
		t.Errorf("%s was restored, want %s", restored.AID, own.AID)
	}
	if log, _ := other.wants(0, "audit"); !strings.Contains(log, "backup.restore") || !strings.Contains(log, "backup.take") {
		t.Errorf("the audit log:\n%s", log)
	}
}

// cut makes what a copy over a bad line leaves.
func (o *operator) cut(path string) {
	o.t.Helper()
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-1000)
	}
	if err != nil {
		o.t.Fatal(err)
	}
	if _, says := o.wants(2, "restore", "--check", path); !strings.Contains(says, "its end is missing") {
		o.t.Errorf("cut off: %s", says)
	}
}

// A backup of another hub is checked only by who wants that, and proves nothing
// about this one. Over a hub that was made here nothing is restored unasked.
func TestAnotherHubsBackup(t *testing.T) {
	mine, theirs := newOperator(t), newOperator(t)
	file := filepath.Join(t.TempDir(), "theirs")
	theirs.wants(0, "backup", file)
	if _, says := mine.wants(2, "restore", "--check", file); !strings.Contains(says, "a backup of another hub") {
		t.Errorf("it says %s", says)
	}
	var verdict struct{ Proven bool }
	if mine.read(&verdict, 0, "restore", "--check", file, "--yes"); verdict.Proven {
		t.Error("another hub's backup proves this one")
	}
	if _, says := mine.wants(2, "restore", "--into-empty", file); !strings.Contains(says, "takes its place") {
		t.Errorf("it says %s", says)
	}
	mine.wants(0, "restore", "--into-empty", file, "--yes")
}

func TestMigrateByHand(t *testing.T) {
	o := &operator{t: t, env: map[string]string{app.EnvDatabaseURL: pgtest.Empty(t)}}
	type step struct {
		Name  string
		Locks []struct{ Table, Waits string }
	}
	var plan struct {
		Schema, Program int64
		Pending         []step
	}
	o.read(&plan, 0, "migrate", "--plan")
	if plan.Schema != 0 || plan.Program != migrations.Latest() || len(plan.Pending) == 0 {
		t.Errorf("the plan: %+v", plan)
	}
	out, _ := o.wants(0, "migrate", "--plan")
	for _, want := range []string{"0012_suspend_members", "ACCESS EXCLUSIVE; readers and writers wait for a moment", "programs that know version"} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan does not say %q:\n%s", want, out)
		}
	}
	var done struct {
		From, To int64
		Applied  []step
	}
	if o.read(&done, 0, "migrate"); done.To != migrations.Latest() || len(done.Applied) != len(plan.Pending) {
		t.Errorf("it did %+v", done)
	}
	if o.read(&plan, 0, "migrate", "--plan"); len(plan.Pending) != 0 || plan.Schema != migrations.Latest() {
		t.Errorf("the plan afterwards: %+v", plan)
	}
}
