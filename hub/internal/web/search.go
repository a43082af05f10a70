package web

import (
	"net/url"
	"strings"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/wire"
)

// PageSize is how many agents one page shows.
const PageSize = 25

// Question is what the directory is asked for, as it was typed. ?cap= that is
// present is the question, as it is for programs.
type Question struct {
	ByCap     bool
	Cap, Text string
	later     bool // it goes on from an earlier page
}

// QuestionOf reads it. Whether it can be answered is the directory's affair.
func QuestionOf(q url.Values) Question {
	return Question{ByCap: q.Has("cap"), Cap: q.Get("cap"), Text: q.Get("q"), later: q.Get("cursor") != ""}
}

// Everybody reports whether nothing particular is asked for.
func (q Question) Everybody() bool { return !q.ByCap && q.Text == "" }

// Shown is the question as people read it.
func (q Question) Shown() string {
	if q.ByCap {
		return plain.Line(q.Cap)
	}
	return plain.Line(q.Text)
}

// path is where the question is answered, from a cursor on.
func (q Question) path(cursor string) string {
	v := url.Values{}
	switch {
	case q.ByCap:
		v.Set("cap", q.Cap)
	case q.Text != "":
		v.Set("q", q.Text)
	}
	if cursor != "" {
		v.Set("cursor", cursor)
	}
	if len(v) == 0 {
		return "/"
	}
	return "/?" + v.Encode()
}

// First is where its answer begins, empty on that page.
func (q Question) First() string {
	if !q.later {
		return ""
	}
	return q.path("")
}

// Search is a question with one page of its answer.
type Search struct {
	Site
	Question
	Agents []Entry
	Next   string // where the answer goes on, empty at its end
}

// NewSearch shows the agents of one page.
func NewSearch(s Site, q Question, agents []wire.Agent, next string) Search {
	page := Search{Site: s, Question: q, Agents: make([]Entry, 0, len(agents))}
	asked := q.expr()
	for _, v := range agents {
		page.Agents = append(page.Agents, entryOf(v, asked))
	}
	if next != "" {
		page.Next = q.path(next)
	}
	return page
}

// expr is what the question looks for, nothing where it is in words.
func (q Question) expr() (e capability.Expr) {
	if q.ByCap {
		e, _ = capability.ParseExpr(q.Cap) // it was answered, so it reads well
	}
	return e
}

// Link is a way to another question.
type Link struct{ Text, Path string }

// Wider is the family of the one id asked for, for a question nobody answers.
func (q Question) Wider() *Link {
	e := q.expr()
	if len(e.Exact()) != 1 || len(e.Prefixes()) > 0 {
		return nil
	}
	first, _, dotted := strings.Cut(e.Exact()[0], ".")
	if !dotted || first == "" {
		return nil
	}
	family := Question{ByCap: true, Cap: first + ".*"}
	return &Link{family.Shown(), family.path("")}
}

// InWords is the other question with the same text.
func (q Question) InWords() Link { return Link{q.Shown(), Question{Text: q.Cap}.path("")} }

// Here is the entry of the directory.
func (Search) Here() string { return "/" }

var searchPage = page("search.html")

// HTML implements Page.
func (s Search) HTML() ([]byte, error) { return render(searchPage, s) }
