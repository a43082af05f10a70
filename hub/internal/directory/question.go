package directory

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/errs"
)

// Bounds of one answer.
const (
	MaxPage      = 1000 // agents, also without a limit: older clients expect all
	MaxPageBytes = 4 << 20
	maxText      = 256
)

// Question is what a list is asked for. The zero value asks for everybody who
// is listed.
type Question struct {
	caps capability.Expr
	text string
	kind questionKind
}

type questionKind uint8

const (
	byText questionKind = iota
	byCap
)

// AskCap reads ?cap= (wire 2, I.5).
func AskCap(value string) (Question, error) {
	expr, err := capability.ParseExpr(value)
	return Question{caps: expr, kind: byCap}, err
}

// AskText reads ?q=, of which nothing is a wildcard.
func AskText(value string) (Question, error) {
	if err := checkText("q", value, maxText); err != nil {
		return Question{}, err
	}
	return Question{text: Fold(value)}, nil
}

// String is the question in one spelling; cursors are bound to it.
func (q Question) String() string {
	if q.kind == byCap {
		return "cap=" + q.caps.String()
	}
	return "q=" + q.text
}

// ParseLimit reads ?limit=. A larger one than the largest page is cut, and the
// answer says so; everything that is no number above zero is refused.
func ParseLimit(value string, most int) (int, error) {
	digits := strings.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' }) < 0
	n, err := strconv.Atoi(value)
	if digits && value != "" && err != nil {
		return most, nil // more digits than an int has
	}
	if !digits || n < 1 {
		return 0, errs.New(errs.Invalid, "limit_invalid", "limit must be a whole number from 1 to %d", most).In("limit")
	}
	return min(n, most), nil
}

// checkText holds a text to what can be stored and shown: valid UTF-8 without
// zero bytes, no longer than most bytes.
func checkText(field, s string, most int) error {
	switch {
	case len(s) > most:
		return errs.New(errs.Invalid, "too_long", "%s has %d bytes, more than the %d allowed", field, len(s), most).In(field)
	case !utf8.ValidString(s):
		return errs.New(errs.Invalid, "bad_utf8", "%s is no valid UTF-8", field).In(field)
	case strings.ContainsRune(s, 0):
		return errs.New(errs.Invalid, "zero_byte", "%s holds a zero byte", field).In(field)
	}
	return nil
}
