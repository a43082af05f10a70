package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
)

// plans looks at how the statements are run at this size: with the parameters
// known and, as after a few executions, without.
func (w *town) plans(t testing.TB) Row {
	conn := connect(t, w.database, 1)[0]
	row := Row{What: "look-up, plans that scan a table", Target: "none", Measured: "none", Pass: true}
	for name, s := range map[string]bench.Statement{
		"exact":  bench.Exact(bench.Common, pageSize+1),
		"prefix": bench.Prefix(w.Family(0), pageSize+1),
		"text":   bench.Search("nowhere", 4000),
	} {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			if plan := explain(t, conn, mode, s); scans.MatchString(plan) {
				row.Pass, row.Measured = false, name+" with "+mode
				row.Note += plan
			}
		}
	}
	return row
}

var scans = regexp.MustCompile(`Seq Scan|Bitmap Heap Scan|Hash Join`)

// explain gives the plan of a prepared statement.
func explain(t testing.TB, conn *pgx.Conn, mode string, s bench.Statement) string {
	exec := func(sql string) string {
		results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
		stage.Must(t, err)
		var lines []string
		for _, row := range results[0].Rows {
			lines = append(lines, string(row[0]))
		}
		return strings.Join(lines, "\n")
	}
	exec(`SET plan_cache_mode = ` + mode)
	exec(`PREPARE q AS ` + s.SQL)
	defer exec(`DEALLOCATE q`)
	return exec(`EXPLAIN EXECUTE q (` + literals(s.Args) + `)`)
}

// literals writes parameters into a text: EXPLAIN EXECUTE takes no others.
func literals(args []any) string {
	var out []string
	for _, a := range args {
		switch a := a.(type) {
		case []string:
			out = append(out, "ARRAY["+literals(anys(a))+"]::text[]")
		case string:
			out = append(out, "'"+strings.ReplaceAll(a, "'", "''")+"'")
		case fmt.Stringer: // a time
			out = append(out, "'0001-01-01Z'")
		default:
			out = append(out, fmt.Sprint(a))
		}
	}
	return strings.Join(out, ", ")
}

func anys(s []string) (out []any) {
	for _, v := range s {
		out = append(out, v)
	}
	return out
}
