package web

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/plain"
)

// Problem is a failure on a page. The question stays in its field, to be mended.
type Problem struct {
	Site
	Question
	Title, Message, RequestID string
}

// NewProblem shows a failure.
func NewProblem(s Site, q Question, e *errs.Error, requestID string) Problem {
	return Problem{Site: s, Question: q, Title: title(e.Kind), Message: sentence(e), RequestID: requestID}
}

func title(k errs.Kind) string {
	switch k {
	case errs.Invalid:
		return "That can’t be answered"
	case errs.NotFound:
		return "Not found"
	case errs.TooMany, errs.Unavailable:
		return "Not now"
	case errs.MethodNotAllowed:
		return "Not that way"
	}
	return "Something went wrong"
}

// sentence makes one of a message, which follows a colon elsewhere. One that
// begins with a parameter's name keeps its spelling.
func sentence(e *errs.Error) string {
	s := plain.Line(e.Message)
	if first, size := utf8.DecodeRuneInString(s); e.Field == "" || !strings.HasPrefix(s, e.Field) {
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	return s + "."
}

var problemPage = page("problem.html")

// HTML implements Page.
func (p Problem) HTML() ([]byte, error) { return render(problemPage, p) }
