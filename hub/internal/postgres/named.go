package postgres

import (
	"context"
	"regexp"

	"github.com/jackc/pgx/v5"
)

// named is a statement whose @names were turned into positions once. pgx reads
// the text anew at every call, which is nothing for a short one and a tenth of
// the client's work for the long ones of the mailboxes.
type named struct {
	sql   string
	names []any // by position
}

var argName = regexp.MustCompile(`@(\w+)`)

// compile lets pgx do the rewriting, each name being its own value.
func compile(sql string) named {
	probe := pgx.NamedArgs{}
	for _, m := range argName.FindAllStringSubmatch(sql, -1) {
		probe[m[1]] = m[1]
	}
	text, names, err := probe.RewriteQuery(context.Background(), nil, sql, nil)
	if err != nil {
		panic(err) // the text is a constant
	}
	return named{text, names}
}

func (n named) bind(args pgx.NamedArgs) []any {
	out := make([]any, len(n.names))
	for i, name := range n.names {
		out[i] = args[name.(string)]
	}
	return out
}
