package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Row is one figure with the target it is held against.
type Row struct {
	What     string `json:"what"`
	Measured string `json:"measured"`
	Target   string `json:"target"`
	Pass     bool   `json:"pass"`
	Goal     string `json:"goal,omitempty"`
	Met      bool   `json:"goal_met,omitempty"`
	Note     string `json:"note,omitempty"`
	Alone    string `json:"alone"`
}

// Report is a whole run.
type Report struct {
	Machine Machine `json:"machine"`
	Options options `json:"options"`
	Rows    []Row   `json:"rows"`
}

func (r Report) passed() bool {
	for _, row := range r.Rows {
		if !row.Pass {
			return false
		}
	}
	return true
}

func (r Report) writeTable(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n\n", r.Machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tmeasured\ttarget\t\tgoal\t")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", row.What, row.Measured, row.Target, verdict(row.Pass), row.Goal, reached(row))
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, row := range r.Rows {
		if row.Note != "" {
			fmt.Fprintf(w, "%s: %s\n", row.What, row.Note)
		}
	}
	r.writeAlone(w)
}

func (r Report) writeAlone(w io.Writer) {
	fmt.Fprintln(w, "\nalone:")
	last := ""
	for _, row := range r.Rows {
		if row.Alone != last {
			fmt.Fprintln(w, " ", row.Alone)
		}
		last = row.Alone
	}
}

func verdict(pass bool) string {
	if pass {
		return "pass"
	}
	return "MISS"
}

func reached(r Row) string {
	switch {
	case r.Goal == "":
		return ""
	case r.Met:
		return "met"
	default:
		return "not yet"
	}
}
