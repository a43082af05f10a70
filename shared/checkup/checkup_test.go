package checkup

import (
	"strings"
	"testing"
)

func TestResultsAreShown(t *testing.T) {
	r := Results{
		{"clock", OK, "within a second", "", ""},
		{"disk", Finding, "1 MB is left", "nothing more is kept", "make room"},
		{"lists", Finding, "says \x1b[2J who", "", "mend it"},
		{"backup", Skipped, "there is no database", "", ""},
	}
	var out strings.Builder
	r.Write(&out)
	want := "ok\tclock\twithin a second\n" +
		"FOUND\tdisk\t1 MB is left\n\t\twhy: nothing more is kept\n\t\t-> make room\n" +
		"FOUND\tlists\tsays \ufffd[2J who\n\t\t-> mend it\n" +
		"skipped\tbackup\tthere is no database\n"
	if out.String() != want || r.Findings() != 2 {
		t.Errorf("%d findings, shown as\n%q, want 2 and\n%q", r.Findings(), out.String(), want)
	}
}
