package pgtools

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a URL says of a database reaches libpq in its own variables.
func TestEnvironment(t *testing.T) {
	tests := []struct {
		name, url string
		want      []string
	}{
		{"a socket", "postgres://anet@/postgres?host=%2Frun%2Fhub&port=5432&sslmode=disable",
			[]string{"PGDATABASE=postgres", "PGHOST=/run/hub", "PGPORT=5432", "PGSSLMODE=disable", "PGUSER=anet"}},
		{"a server with TLS", "postgres://u:s%20ecret@db.example:6543/hub?sslmode=require&pool_max_conns=4",
			[]string{"PGDATABASE=hub", "PGHOST=db.example", "PGPASSWORD=s ecret", "PGPORT=6543", "PGSSLMODE=require", "PGUSER=u"}},
		{"several hosts", "postgres://u@a:1,b:2/hub?target_session_attrs=read-write",
			[]string{"PGDATABASE=hub", "PGHOST=a,b", "PGPORT=1,2", "PGTARGETSESSIONATTRS=read-write", "PGUSER=u"}},
		{"keywords", `host=db user=u password='it''s' dbname=hub`, nil},
		{"keywords, quoted", `host=db user=u password='s ecret' dbname=hub sslmode='disable'`,
			[]string{"PGDATABASE=hub", "PGHOST=db", "PGPASSWORD=s ecret", "PGPORT=5432", "PGSSLMODE=disable", "PGUSER=u"}},
		{"a schema of its own", "postgres://u@db/hub?search_path=anet%20hub",
			[]string{"PGDATABASE=hub", "PGHOST=db", `PGOPTIONS=-c search_path=anet\ hub`, "PGPORT=5432", "PGUSER=u"}},
	}
	for _, tt := range tests {
		for _, name := range []string{"PGPASSFILE", "PGSSLMODE"} {
			t.Setenv(name, "")
		}
		env, err := environment(tt.url)
		if tt.want == nil {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, want := range tt.want {
			if !slices.Contains(env, want) {
				t.Errorf("%s: %q is not in %q", tt.name, want, env)
			}
		}
	}
	if _, err := environment("postgres://u:S3CRET@db:port/hub"); err == nil || strings.Contains(err.Error(), "S3CRET") {
		t.Errorf("a URL that cannot be read: %v", err)
	}
}

// program is a stand-in that runs a line of shell.
func program(t *testing.T, dir, name, line string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+line+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestNoSecretOnACommandLine(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ANET_HUB_DATABASE_URL", "postgres://u:S3CRET@db/hub")
	program(t, dir, "pg_dump", `echo "args: $*"; env | grep -v '^PGPASSWORD='`)
	tools, err := New(dir, "postgres://u:S3CRET@db/hub")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := tools.Dump(t.Context(), &out, "snap", "message"); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "S3CRET") || !strings.Contains(got, "--snapshot=snap") || !strings.Contains(got, "--exclude-table-data=*.message") {
		t.Errorf("pg_dump was run with\n%s", got)
	}
}

func TestAFullDiskIsNamed(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "pg_dump", `while echo archive; do :; done`)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if err := (Tools{dir: dir}).Dump(t.Context(), full, "snap"); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("it says %v", err)
	}
}

// COMMIT is sent last, and never after a failure of either program.
func TestNothingIsCommittedAfterAFailure(t *testing.T) {
	tests := []struct {
		name, restore, psql string
		says                string // empty where all is well
		commits             bool
	}{
		{"all is well", `echo "CREATE;"`, `while read -r line; do case $line in *echo*) echo "${line#*echo }";; *) echo "$line" >>"$OUT";; esac; done`, "", true},
		{"killed at the end", `echo "CREATE;"`, `while read -r line; do case $line in *echo*) kill -9 $$;; esac; echo "$line" >>"$OUT"; done`, "early", false},
		{"the archive ends early", `echo "CREATE;"; echo "unexpected end of file" >&2; exit 1`, `cat >"$OUT"`, "unexpected end of file", false},
		{"the server refuses", `while echo "CREATE;"; do :; done`, `head -c 9 >"$OUT"; echo "ERROR: no space left" >&2; exit 3`, "no space left", false},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		program(t, dir, "pg_restore", `case $1 in --list) echo "1; TABLE x"; exit;; esac; `+tt.restore)
		program(t, dir, "psql", strings.ReplaceAll(tt.psql, "$OUT", out))
		err := Tools{dir: dir}.Restore(t.Context(), "archive", "BEFORE;", "AFTER;")
		script, read := os.ReadFile(out)
		if read != nil && !errors.Is(read, os.ErrNotExist) {
			t.Fatal(read)
		}
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if commits := strings.HasSuffix(string(script), "COMMIT;\n"); commits != tt.commits {
			t.Errorf("%s: psql ran %q", tt.name, script)
		}
	}
}
