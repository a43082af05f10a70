package cli

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/node"
)

func TestReview(t *testing.T) {
	p := newPerson(t)
	p.up()
	p.node.Put(node.Task{ID: "ix_1", Role: node.Requester, Peer: "p", State: "completed", Ended: true, ReceiptVerified: "verified"})
	for _, wrong := range [][]string{
		{"review", "ix_1"}, {"review", "--rating", "5"}, {"review", "ix_1", "--rating", "good"}, {"review", "ix_1", "fine", "--rating", "5"},
	} {
		p.wants(exitUse, wrong...)
	}
	out, _ := p.wants(exitDone, "review", "ix_1", "--rating", "4", "--comment", "fast\x1b[31m")
	if !strings.Contains(out, "4 of 5: fast") || strings.Contains(out, "\x1b") {
		t.Errorf("said %q", out)
	}
	if out, _ := p.wants(exitDone, "task", "get", "ix_1"); !strings.Contains(out, "4 of 5: fast") {
		t.Errorf("the task says nothing of its review: %q", out)
	}
	if out, _ := p.wants(exitDone, "thread", "ix_1", "--json"); !strings.Contains(out, `"rating": 4`) {
		t.Errorf("the thread as JSON: %s", out)
	}
	if out, _ := p.wants(exitError, "review", "ix_1", "--rating", "5", "--json"); !strings.Contains(out, `"already_reviewed"`) {
		t.Errorf("once more: %s", out)
	}
	p.wants(exitError, "review", "ix_2", "--rating", "5")
}

func TestACardShowsItsRating(t *testing.T) {
	for _, c := range []struct {
		card node.Card
		want string
	}{
		{node.Card{Rating: 4.5, Reviews: 2}, "4.5 (2)"},
		{node.Card{}, "rating\t-"},
	} {
		var out strings.Builder
		printCard(&out, c.card)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%q, want %q in it", out.String(), c.want)
		}
	}
}
