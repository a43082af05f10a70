// Package checkup is what a doctor found at a hub or at a node, as both keep and
// show it.
//
// The one rule: a finding says what to do.
package checkup

import (
	"fmt"
	"io"

	"github.com/anet-hub/anet/shared/plain"
)

// Status is what a check came to.
type Status string

// The statuses. Skipped is a check that could not be made, and says why.
const (
	OK      Status = "ok"
	Finding Status = "finding"
	Skipped Status = "skipped"
)

// Result is one check, or one of several things that a check found.
type Result struct {
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Message string `json:"message"`
	Why     string `json:"why,omitempty"`  // it matters
	Next    string `json:"next,omitempty"` // what to do
}

// Results are in the order in which they are worth mending.
type Results []Result

// Findings counts them.
func (r Results) Findings() (n int) {
	for _, one := range r {
		if one.Status == Finding {
			n++
		}
	}
	return n
}

var marks = map[Status]string{OK: "ok", Finding: "FOUND", Skipped: "skipped"}

// Write shows them to people, in columns.
func (r Results) Write(w io.Writer) {
	for _, one := range r {
		fmt.Fprintf(w, "%s\t%s\t%s\n", marks[one.Status], one.Check, plain.Text(one.Message))
		if one.Why != "" {
			fmt.Fprintf(w, "\t\twhy: %s\n", plain.Line(one.Why))
		}
		if one.Next != "" {
			fmt.Fprintf(w, "\t\t-> %s\n", plain.Line(one.Next))
		}
	}
}
