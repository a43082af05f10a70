package embedpg

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/anet-hub/anet/shared/errs"
)

// Clients finds the folder of pg_dump, pg_restore and psql for a server of a
// major version. They have to be as new as the server, and the nearest are taken:
// those of later versions write and read what it does not know.
func Clients(binDir string, server int) (string, error) {
	folders := []string{binDir}
	if binDir == "" {
		folders = searchFolders()
	}
	var found []programs
	for _, dir := range folders {
		if p, ok := inspectClients(dir); ok && p.major >= server {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b programs) int { return cmp.Compare(a.major, b.major) })
	if len(found) > 0 {
		return found[0].dir, nil
	}
	return "", errs.New(errs.Unavailable, "postgres_programs_missing",
		"pg_dump, pg_restore and psql of PostgreSQL %d or newer are not on this machine: %s, or name their folder with --postgres-bin-dir",
		server, clientAdvice(server))
}

// inspectClients passes over Debian's wrapper, which chooses a version by itself.
func inspectClients(dir string) (programs, bool) {
	p := programs{dir: dir}
	for _, name := range []string{"pg_dump", "pg_restore", "psql"} {
		path, err := filepath.EvalSymlinks(p.path(name))
		if err != nil || filepath.Base(path) == "pg_wrapper" {
			return p, false
		}
	}
	out, err := exec.Command(p.path("pg_dump"), "--version").Output()
	m := versionLine.FindSubmatch(out)
	if err != nil || m == nil {
		return p, false
	}
	p.major, err = strconv.Atoi(string(m[1]))
	return p, err == nil
}

func clientAdvice(server int) string {
	return fmt.Sprintf("install the clients of PostgreSQL (on Debian: apt-get install postgresql-client-%d)", server)
}
