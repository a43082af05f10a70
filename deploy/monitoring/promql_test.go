package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// expression is what of a query names series and labels. promtool parses
// queries; it cannot know which metrics there are.
type expression struct {
	selectors []selector
	sums      []string // labels in by (…) and without (…)
}

type selector struct {
	name     string
	matchers []matcher
}

type matcher struct{ label, op, value string }

var (
	word    = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	number  = regexp.MustCompile(`^[0-9][0-9a-zA-Z.]*`)
	matched = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"`)
	bracket = map[string]string{"{": "}", "[": "]", "(": ")"}
)

// grouping are words before a list of labels.
var grouping = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}

// operators are words between expressions.
var operators = []string{"and", "or", "unless", "bool", "offset"}

// scan reads a query word by word. A word before a bracket is a function, and
// every other one that is no operator a metric.
func scan(query string) (e expression, err error) {
	for rest := strings.TrimSpace(query); rest != ""; rest = strings.TrimSpace(rest) {
		if n := number.FindString(rest); n != "" {
			rest = rest[len(n):]
			continue
		}
		w := word.FindString(rest)
		if w == "" {
			if rest, err = skip(rest); err != nil {
				return e, fmt.Errorf("%w in %s", err, query)
			}
			continue
		}
		rest = strings.TrimSpace(rest[len(w):])
		switch {
		case slices.Contains(grouping, w):
			var list string
			list, rest = inside(rest, "(")
			e.sums = append(e.sums, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
		case slices.Contains(operators, w), strings.HasPrefix(rest, "("), nextIs(rest, grouping):
		default:
			var list string
			list, rest = inside(rest, "{")
			e.selectors = append(e.selectors, selector{w, matchers(list)})
		}
	}
	return e, nil
}

// skip passes a sign, or a range and what it holds.
func skip(rest string) (string, error) {
	switch rest[:1] {
	case "[":
		_, rest = inside(rest, "[")
		return rest, nil
	case "{", `"`, "'", "`":
		return "", fmt.Errorf("a selector without a name, or a string, at %q", rest)
	}
	return rest[1:], nil
}

func nextIs(rest string, words []string) bool { return slices.Contains(words, word.FindString(rest)) }

// inside is what stands between brackets at the start of rest, strings with
// brackets in them included.
func inside(rest, open string) (in, after string) {
	if !strings.HasPrefix(rest, open) {
		return "", rest
	}
	quoted := false
	for i := 1; i < len(rest); i++ {
		switch c := rest[i : i+1]; {
		case c == `"`:
			quoted = !quoted
		case c == bracket[open] && !quoted:
			return rest[1:i], rest[i+1:]
		}
	}
	return rest[1:], ""
}

func matchers(list string) (all []matcher) {
	for _, m := range matched.FindAllStringSubmatch(list, -1) {
		all = append(all, matcher{m[1], m[2], m[3]})
	}
	return all
}

func TestScan(t *testing.T) {
	tests := []struct{ query, want string }{
		{`up`, "[{up []}] []"},
		{`sum by (job, route) (rate(a_total{route=~"/agents/{aid}|/x",kind!="full"}[5m])) / 2e3`,
			"[{a_total [{route =~ /agents/{aid}|/x} {kind != full}]}] [job route]"},
		{`a:b:c > 0.25 and b offset 5m`, "[{a:b:c []} {b []}] []"},
		{`a / on (job) group_left (x) b or vector(0)`, "[{a []} {b []}] [job x]"},
		{`time() - min(a) by (job)`, "[{a []}] [job]"},
		{`rate(a[$__rate_interval])`, "[{a []}] []"},
	}
	for _, tt := range tests {
		e, err := scan(tt.query)
		if got := fmt.Sprint(e.selectors, " ", e.sums); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.query, got, err, tt.want)
		}
	}
	if _, err := scan(`{job="a"}`); err == nil {
		t.Error("a selector without a name is let through")
	}
}
