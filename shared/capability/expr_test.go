package capability

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/errs"
)

func TestParseExpr(t *testing.T) {
	for _, c := range []struct {
		why, value      string
		exact, prefixes []string
		everyone        bool
	}{
		{"one id", "text.digest", []string{"text.digest"}, nil, false},
		{"a prefix", "text.*", nil, []string{"text."}, false},
		{"alternatives, sorted", "b,c*,a", []string{"a", "b"}, []string{"c"}, false},
		{"blanks and empty terms", " ,a , ,b*,", []string{"a"}, []string{"b"}, false},
		{"a term twice", "a,a,b*,b*", []string{"a"}, []string{"b"}, false},
		{"a prefix covers ids and prefixes", "text.x,text.*,text.y.*,tex", []string{"tex"}, []string{"text."}, false},
		{"prefixes that only look alike", "ab*,a.*,abc*", nil, []string{"a.", "ab"}, false},
		{"wildcards of SQL are literal", "a_c.*,%*,100%", []string{"100%"}, []string{"%", "a_c."}, false},
		{"a backslash is literal", `a\*`, nil, []string{`a\`}, false},
		{"everyone", "*", nil, nil, true},
		{"everyone swallows the rest", "a, * ,b*", nil, nil, true},
		{"inner blanks stay", "text to *", nil, []string{"text to "}, false},
	} {
		e, err := ParseExpr(c.value)
		if err != nil {
			t.Errorf("%s: ParseExpr(%q): %v", c.why, c.value, err)
			continue
		}
		if !slices.Equal(e.Exact(), c.exact) || !slices.Equal(e.Prefixes(), c.prefixes) || e.Everyone() != c.everyone {
			t.Errorf("%s: ParseExpr(%q) = %q %q %v, want %q %q %v", c.why, c.value,
				e.Exact(), e.Prefixes(), e.Everyone(), c.exact, c.prefixes, c.everyone)
		}
	}
}

func TestParseExprRefuses(t *testing.T) {
	for _, c := range []struct{ why, value, reason string }{
		{"nothing", "", "capability_query_empty"},
		{"blanks and commas", " , ,,", "capability_query_empty"},
		{"a star in front", "*x", "capability_query_wildcard"},
		{"a star in the middle", "a*c", "capability_query_wildcard"},
		{"two stars", "a**", "capability_query_wildcard"},
		{"a bad term beside a good one", "a,b*c", "capability_query_wildcard"},
		{"a zero byte", "a\x00*", "capability_query_term"},
		{"bad UTF-8", "a\xff", "capability_query_term"},
		{"longer than any id", strings.Repeat("a", MaxLen+1), "capability_query_term"},
		{"too many terms", strings.Repeat("a,", MaxTerms+1), "capability_query_too_long"},
	} {
		_, err := ParseExpr(c.value)
		if e := errs.As(err); e == nil || e.Kind != errs.Invalid || e.Reason != c.reason || e.Field != "cap" {
			t.Errorf("%s: ParseExpr(%.20q) = %v, want an invalid %s in cap", c.why, c.value, err, c.reason)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		why, value, id string
		want           bool
	}{
		{"exact", "cas.put", "cas.put", true},
		{"exact is not a prefix", "cas.put", "cas.putter", false},
		{"exact is not a family", "cas", "cas.put", false},
		{"case counts", "cas.put", "CAS.put", false},
		{"family keeps its dot", "light.*", "lightning", false},
		{"family", "light.*", "light.onoff@sim/lamp-1", true},
		{"a prefix matches itself", "light*", "light", true},
		{"the second of two prefixes", "a.*,light*", "lightning", true},
		{"underscore is no wildcard", "a_c.*", "abc.one", false},
		{"everyone", "*", "whatever", true},
	} {
		e, err := ParseExpr(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Match(c.id); got != c.want {
			t.Errorf("%s: %q matches %q = %v, want %v", c.why, c.value, c.id, got, c.want)
		}
	}
	if (Expr{}).Match("a") {
		t.Error("the zero Expr matches, want nothing")
	}
}

func TestUpperBound(t *testing.T) {
	for _, c := range []struct {
		why, prefix, want string
		ok                bool
	}{
		{"the next letter", "text.", "text/", true},
		{"beyond one byte", "a\u007f", "a\u0080", true},
		{"over the surrogates", "a\ud7ff", "a\ue000", true},
		{"the last code point carries", "a\U0010ffff", "b", true},
		{"and carries again", "a\U0010ffff\U0010ffff", "b", true},
		{"nothing is greater", "\U0010ffff", "", false},
		{"everything", "", "", false},
	} {
		got, ok := UpperBound(c.prefix)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: UpperBound(%q) = %q %v, want %q %v", c.why, c.prefix, got, ok, c.want, c.ok)
		}
	}
}

// A prefix and the range a hub scans for it must hold the same ids.
func FuzzUpperBound(f *testing.F) {
	f.Add("text.", "text.digest")
	f.Add("a\ud7ff", "a\ue000")
	f.Add("a\U0010ffff", "b")
	f.Fuzz(func(t *testing.T, prefix, id string) {
		if !utf8.ValidString(prefix) || !utf8.ValidString(id) {
			return // ids are valid UTF-8
		}
		upper, bounded := UpperBound(prefix)
		if !utf8.ValidString(upper) {
			t.Fatalf("UpperBound(%q) = %q is no text", prefix, upper)
		}
		inRange := prefix <= id && (!bounded || id < upper)
		if inRange != strings.HasPrefix(id, prefix) {
			t.Fatalf("%q in [%q, %q) = %v, but has the prefix = %v", id, prefix, upper, inRange, !inRange)
		}
	})
}

// What a question matches is what its terms say, one by one; its spelling asks
// the same.
func FuzzExpr(f *testing.F) {
	for _, s := range []string{"a,b*", "text.x,text.*", "*", "a**", "a\x00", "ab*,a*,abc"} {
		f.Add(s, "text.x")
	}
	f.Fuzz(func(t *testing.T, value, id string) {
		e, err := ParseExpr(value)
		if err != nil {
			return
		}
		if got, want := e.Match(id), matchTerms(value, id); got != want {
			t.Fatalf("%q matches %q = %v, want %v", value, id, got, want)
		}
		again, err := ParseExpr(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q is spelled %q, which reads as %q (%v)", value, e, again, err)
		}
		if overlaps(e) {
			t.Fatalf("%q has terms that overlap: %q", value, e)
		}
	})
}

func matchTerms(value, id string) bool {
	for _, term := range strings.Split(value, ",") {
		term = strings.TrimSpace(term)
		stem, prefix := strings.CutSuffix(term, "*")
		if term != "" && (stem == id || prefix && strings.HasPrefix(id, stem)) {
			return true
		}
	}
	return false
}

func overlaps(e Expr) bool {
	terms := append(slices.Clone(e.Exact()), e.Prefixes()...)
	for i, p := range e.Prefixes() {
		for j, term := range terms {
			if j != len(e.Exact())+i && strings.HasPrefix(term, p) {
				return true
			}
		}
	}
	return false
}
