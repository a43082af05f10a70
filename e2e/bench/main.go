// Command bench measures the hubs and nodes of this repository on this machine
// and holds each figure against its target. Figures about speed are taken side
// by side with what the same work costs at least, in turns within one run, and
// told as ratios: another machine gives other speeds and, nearly, the same ratios.
//
//	go run ./e2e/bench                        the table of docs/benchmarks.md
//	go run ./e2e/bench -only lookup -agents 100000
//
// The programs are real and keep their defaults, but for limits of rate that
// one address would run into; the load comes from this process.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// options are the sizes of a run.
type options struct {
	Agents    int
	Federated int
	Polls     int
	Workers   int
	Rounds    int
	Time      time.Duration // of one side in one round
	Idle      time.Duration
	Keep      string
}

// part is a benchmark that can be run alone.
type part struct {
	name string
	run  func(testing.TB, options) []Row
}

var parts = []part{
	{"lookup", lookup},
	{"call", call},
	{"mail", mail},
	{"register", register},
	{"settle", settle},
	{"streams", streams},
	{"sync", syncing},
	{"polls", polls},
	{"start", start},
	{"idle", idle},
	{"demo", demo},
}

func main() {
	var o options
	var only string
	var asJSON bool
	flag.IntVar(&o.Agents, "agents", 1_000_000, "agents in the directory that is asked")
	flag.IntVar(&o.Federated, "federated", 100_000, "agents that peers are told of")
	flag.IntVar(&o.Polls, "polls", 10_000, "polls that wait at once")
	flag.IntVar(&o.Workers, "workers", 16, "requests under way at once")
	flag.IntVar(&o.Rounds, "rounds", 5, "turns of each side")
	flag.DurationVar(&o.Time, "time", 4*time.Second, "length of a turn")
	flag.DurationVar(&o.Idle, "idle", 10*time.Minute, "how long an idle node is watched")
	flag.StringVar(&o.Keep, "keep", "", "folder that keeps the filled directory for the next run")
	flag.StringVar(&only, "only", "", "run these alone, separated by commas: "+strings.Join(names(), ", "))
	flag.BoolVar(&asJSON, "json", false, "print JSON")
	flag.Parse()
	if flag.Arg(0) == faceRole {
		serveFace()
		return
	}
	chosen, err := choose(only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	report := Report{Machine: thisMachine(), Options: o}
	for _, p := range chosen {
		report.Rows = append(report.Rows, p.perform(o)...)
	}
	stage.Clear()
	report.print(os.Stdout, asJSON)
	if !report.passed() {
		os.Exit(1)
	}
}

func names() (all []string) {
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(only, ",") {
		i := slices.Index(names(), name)
		if i < 0 {
			return nil, fmt.Errorf("there is no benchmark %q, only %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}

// perform runs a part; one that breaks is a row that failed.
func (p part) perform(o options) (rows []Row) {
	say("%s …", p.name)
	broke := play(func(t testing.TB) { rows = p.run(t, o) })
	if broke != nil {
		rows = append(rows, Row{What: p.name + " broke", Measured: broke.Error()})
	}
	for i := range rows {
		rows[i].Alone = "go run ./e2e/bench -only " + p.name
	}
	return rows
}

// say shows progress beside the table.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (r Report) print(w *os.File, asJSON bool) {
	if !asJSON {
		r.writeTable(w)
		return
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(r)
}
