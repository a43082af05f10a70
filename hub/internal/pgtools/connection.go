// Package pgtools runs PostgreSQL's own programs: pg_dump, pg_restore and psql.
//
// The one rule: what they need to reach a database goes through their
// environment, which is their user's alone to read. Nothing of it stands on a
// command line.
package pgtools

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/shared/errs"
)

// environment is how the programs reach the database of a URL: what pgx made of
// it, its password file included, and what it only turned into a TLS
// configuration.
func environment(raw string) ([]string, error) {
	config, err := pgxpool.ParseConfig(raw) // which knows the pool's own parameters for what they are
	if err != nil {
		return nil, errs.New(errs.Invalid, "database_url", "the database URL cannot be read")
	}
	set := map[string]string{}
	for name, value := range settings(raw) {
		if variable, known := variables[name]; known {
			set[variable] = value
		}
	}
	pg := &config.ConnConfig.Config
	set["PGUSER"], set["PGDATABASE"], set["PGPASSWORD"] = pg.User, pg.Database, pg.Password
	set["PGHOST"], set["PGPORT"] = hosts(pg)
	set["PGOPTIONS"] = options(pg.RuntimeParams)
	return append(inherited(), pairs(set)...), nil
}

// variables are the settings of a URL that stay what they are.
var variables = map[string]string{
	"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY",
	"sslcrl": "PGSSLCRL", "sslsni": "PGSSLSNI", "sslnegotiation": "PGSSLNEGOTIATION", "sslcertmode": "PGSSLCERTMODE",
	"channel_binding": "PGCHANNELBINDING", "require_auth": "PGREQUIREAUTH", "connect_timeout": "PGCONNECT_TIMEOUT",
	"target_session_attrs": "PGTARGETSESSIONATTRS", "krbsrvname": "PGKRBSRVNAME",
}

var keyword = regexp.MustCompile(`(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S*))`)

// settings are the parameters of a URL, or of a line of keywords and values.
func settings(raw string) map[string]string {
	found := map[string]string{}
	if !strings.HasPrefix(raw, "postgres") || !strings.Contains(raw, "://") {
		for _, m := range keyword.FindAllStringSubmatch(raw, -1) {
			found[m[1]] = m[2] + m[3]
		}
		return found
	}
	_, query, _ := strings.Cut(raw, "?")
	values, _ := url.ParseQuery(query)
	for name := range values {
		found[name] = values.Get(name)
	}
	return found
}

// hosts lists each once: with and without TLS are two attempts to pgx.
func hosts(pg *pgconn.Config) (names, ports string) {
	list := []string{pg.Host}
	at := []string{fmt.Sprint(pg.Port)}
	for _, f := range pg.Fallbacks {
		if port := fmt.Sprint(f.Port); f.Host != list[len(list)-1] || port != at[len(at)-1] {
			list, at = append(list, f.Host), append(at, port)
		}
	}
	return strings.Join(list, ","), strings.Join(at, ",")
}

// options are the session's settings in the form of a server's command line.
func options(params map[string]string) string {
	escape := strings.NewReplacer(`\`, `\\`, " ", `\ `)
	text := params["options"]
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name != "options" && name != "application_name" {
			text += " -c " + escape.Replace(name+"="+params[name])
		}
	}
	return strings.TrimSpace(text)
}

// inherited is what the programs may know of ours, libpq's own variables
// included. The hub's may hold secrets.
func inherited() (env []string) {
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); {
		case strings.HasPrefix(name, "PG"), name == "PATH", name == "HOME", name == "LD_LIBRARY_PATH", name == "TMPDIR", name == "KRB5CCNAME":
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C", "TZ=UTC", "PGAPPNAME=anet-hub backup")
}

func pairs(set map[string]string) (env []string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] != "" {
			env = append(env, name+"="+set[name])
		}
	}
	return env
}
