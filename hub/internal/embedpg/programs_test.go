package embedpg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestFindPrograms(t *testing.T) {
	root := t.TempDir()
	v14, v15, v17 := install(t, root, 14), install(t, root, 15), install(t, root, 17)
	for _, row := range []struct {
		name    string
		path    string
		binDir  string
		want    int
		found   string
		refusal string
	}{
		{"the newest makes a new cluster", v15 + ":" + v17, "", 0, v17, ""},
		{"an old cluster gets its version", v15 + ":" + v17, "", 15, v15, ""},
		{"no version but the cluster's", v17, "", 16, "", "PostgreSQL 16, which made the data folder"},
		{"too old for a new cluster", v14, v14, 0, "", "PostgreSQL 15 or newer are not in " + v14},
		{"the operator's folder wins", v17, v15, 0, v15, ""},
		{"the operator's folder is the only one", v17, v15, 17, "", "version 15 is in " + v15},
		{"an empty folder holds nothing", v17, root, 0, "", "are not in " + root},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("PATH", row.path)
			got, err := findPrograms(row.binDir, row.want)
			switch {
			case row.refusal == "" && (err != nil || got.dir != row.found):
				t.Errorf("findPrograms = %q, %v, want %q", got.dir, err, row.found)
			case row.refusal != "" && (!errs.Is(err, "postgres_programs_missing") || !strings.Contains(err.Error(), row.refusal)):
				t.Errorf("findPrograms = %q, %v, want a refusal saying %q", got.dir, err, row.refusal)
			}
		})
	}
}

func TestClientProgramsAloneAreNoServer(t *testing.T) {
	dir := install(t, t.TempDir(), 17)
	if err := os.Remove(filepath.Join(dir, "initdb")); err != nil {
		t.Fatal(err)
	}
	if _, ok := inspect(dir); ok {
		t.Error("a folder without initdb was taken for a server")
	}
}

func TestPackageAdvice(t *testing.T) {
	for _, row := range []struct {
		release string
		want    int
		advice  string
	}{
		{"ID=debian\n", 0, "apt-get install postgresql"},
		{"ID=debian\n", 16, "apt-get install postgresql-16"},
		{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", 0, "apt-get install postgresql"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", 0, "dnf install postgresql-server postgresql-contrib"},
		{"ID=alpine\n", 17, "apk add postgresql17 postgresql17-contrib"},
		{"ID=arch\n", 0, "pacman -S postgresql"},
		{"", 0, "install the package that holds PostgreSQL's server"},
	} {
		if got := packageAdvice(row.release, row.want); got != row.advice {
			t.Errorf("packageAdvice(%q, %d) = %q, want %q", row.release, row.want, got, row.advice)
		}
	}
}

// install makes a folder that looks like an installation of that version. Its
// programs only tell their version.
func install(t *testing.T, root string, major int) string {
	t.Helper()
	dir := filepath.Join(root, fmt.Sprint(major))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"postgres", "initdb"} {
		script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %d.4 (Debian %d.4-1)'\n", name, major, major)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
