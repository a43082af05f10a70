package capability

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/errs"
)

// MaxTerms bounds one question: every term costs an index descent.
const MaxTerms = 64

// Expr is a ?cap= question: the agents that offer one of the ids, or an id under
// one of the prefixes. Its terms are sorted and overlap nowhere, so a row of an
// index answers at most one of them. The zero value matches nothing.
type Expr struct {
	exact    []string
	prefixes []string
	everyone bool
}

// ParseExpr reads the value of ?cap=: terms between commas, trimmed, empty ones
// ignored; a '*' at the end makes a prefix, and a lone '*' asks for everyone who
// offers something. Everything else is literal, '%' and '_' included. A question
// that no id could answer is refused, never widened.
func ParseExpr(value string) (Expr, error) {
	var exact, prefixes []string
	for term := range strings.SplitSeq(value, ",") {
		term = strings.TrimSpace(term)
		if term == "" {
			continue
		}
		stem, isPrefix := strings.CutSuffix(term, "*")
		if err := checkStem(term, stem); err != nil {
			return Expr{}, err
		}
		if isPrefix {
			prefixes = append(prefixes, stem)
		} else {
			exact = append(exact, stem)
		}
		if len(exact)+len(prefixes) > MaxTerms {
			return Expr{}, refuse("capability_query_too_long", "cap asks for more than %d terms", MaxTerms)
		}
	}
	if len(exact)+len(prefixes) == 0 {
		return Expr{}, refuse("capability_query_empty", "cap names no capability")
	}
	return normal(exact, prefixes), nil
}

func checkStem(term, stem string) error {
	switch {
	case strings.Contains(stem, "*"):
		return refuse("capability_query_wildcard", "cap term %.60q has a '*' elsewhere than at its end", term)
	case !askable(stem):
		return refuse("capability_query_term", "cap term %.60q can be no capability id", term)
	}
	return nil
}

func refuse(reason, format string, args ...any) error {
	return errs.New(errs.Invalid, reason, format, args...).In("cap")
}

// normal sorts the terms and drops those another one covers.
func normal(exact, prefixes []string) Expr {
	slices.Sort(prefixes)
	var e Expr
	for _, p := range prefixes {
		if !e.covered(p) {
			e.prefixes = append(e.prefixes, p)
		}
	}
	if len(e.prefixes) > 0 && e.prefixes[0] == "" {
		return Expr{everyone: true}
	}
	e.exact = slices.DeleteFunc(exact, e.covered)
	slices.Sort(e.exact)
	e.exact = slices.Compact(e.exact)
	return e
}

// covered finds id under the prefixes. As none covers another, the one that
// could is the last that is not greater than id.
func (e Expr) covered(id string) bool {
	after := sort.Search(len(e.prefixes), func(i int) bool { return e.prefixes[i] > id })
	return after > 0 && strings.HasPrefix(id, e.prefixes[after-1])
}

// Exact are the ids asked for as they stand, sorted.
func (e Expr) Exact() []string { return e.exact }

// Prefixes are the beginnings asked for, sorted, none of them empty.
func (e Expr) Prefixes() []string { return e.prefixes }

// Everyone reports whether any capability at all answers the question; there are
// no other terms then.
func (e Expr) Everyone() bool { return e.everyone }

// Match reports whether an agent that offers id answers the question.
func (e Expr) Match(id string) bool {
	if e.everyone || e.covered(id) {
		return true
	}
	_, found := slices.BinarySearch(e.exact, id)
	return found
}

// String is the question in one spelling; equal questions have equal strings, so
// a cursor may carry it to name the question it belongs to.
func (e Expr) String() string {
	terms := slices.Clone(e.exact)
	for _, p := range e.prefixes {
		terms = append(terms, p+"*")
	}
	if e.everyone {
		terms = append(terms, "*")
	}
	return strings.Join(terms, ",")
}

// UpperBound is the smallest text greater than everything that begins with
// prefix, in the order of code points (COLLATE "C"). The bound itself has to be
// valid text, a database takes no other, so it steps over the surrogates; it is
// false when nothing is greater.
func UpperBound(prefix string) (string, bool) {
	for prefix != "" {
		last, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		if last < utf8.MaxRune {
			return prefix + string(next(last)), true
		}
	}
	return "", false
}

func next(r rune) rune {
	if r == 0xD7FF {
		return 0xE000
	}
	return r + 1
}
