package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
)

// town is a hub with a full directory.
type town struct {
	*stage.HubProcess
	bench.Population
	database string
}

// newTown starts a hub and fills its directory, or takes the one an earlier run kept.
func newTown(t testing.TB, o options) *town {
	t.Helper()
	c := stage.HubConfig{}
	if o.Keep != "" {
		c.DataDir = filepath.Join(o.Keep, fmt.Sprint("hub-", o.Agents))
	}
	w := &town{HubProcess: stage.StartHub(t, c), Population: bench.Population{N: o.Agents, Now: time.Now()}}
	var err error
	w.database, err = bench.DatabaseURL(w.Config.DataDir)
	stage.Must(t, err)
	conn := connect(t, w.database, 1)[0]
	var filled bool
	stage.Must(t, conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM agent)`).Scan(&filled))
	if !filled {
		start := time.Now()
		say("  filling the directory with %d agents", o.Agents)
		stage.Must(t, w.Fill(t.Context(), w.database))
		say("  filled in %s", time.Since(start).Round(time.Second))
	}
	return w
}

// connect opens a connection to the database for each worker.
func connect(t testing.TB, url string, workers int) []*pgx.Conn {
	t.Helper()
	conns := make([]*pgx.Conn, workers)
	for i := range conns {
		var err error
		conns[i], err = pgx.Connect(t.Context(), url)
		stage.Must(t, err)
		t.Cleanup(func() { conns[i].Close(context.Background()) })
	}
	return conns
}

const pageSize = 50

// question is one kind of look-up: many that are alike, asked in turn.
type question struct {
	name  string
	asked []string // values of ?cap=
	bare  func(asked string) bench.Statement
}

// questions are drawn so that every answer has a full page.
func (w *town) questions() []question {
	var exact, prefix []string
	for f := range w.Families() {
		prefix = append(prefix, w.Family(f)+"*")
		for m := range w.Members() {
			exact = append(exact, w.ID(f, m))
		}
	}
	// One more than the page is read, to know whether there is a next one.
	return []question{
		{"exact", append(exact, bench.Common), func(s string) bench.Statement { return bench.Exact(s, pageSize+1) }},
		{"prefix", prefix, func(s string) bench.Statement { return bench.Prefix(s[:len(s)-1], pageSize+1) }},
	}
}

// lookup compares GET /agents?cap= with the statement behind it and with a
// constant answer of the same size, then asks at half of the load.
func lookup(t testing.TB, o options) (rows []Row) {
	w := newTown(t, o)
	for _, q := range w.questions() {
		rows = append(rows, w.lookup(t, o, q)...)
	}
	return append(append(rows, w.plans(t)), w.texts(t)...)
}

func (w *town) lookup(t testing.TB, o options, q question) []Row {
	w.warm(t, o, q)
	hub := w.asking(t, o, q)
	got := compare(t, o, w.HubProcess,
		side{q.name + ", bare SQL", w.bare(t, o, q)},
		side{q.name + ", hub", hub},
		side{q.name + ", constant body", w.constant(t, o, q)})
	bare, served, constant := got[0], got[1], got[2]
	late, err := pace(o.Workers, o.Time, served.median()/2, hub)
	stage.Must(t, err)
	toSQL, toConstant, ofBoth := served.over(bare.sample), served.over(constant.sample), served.over(bare.after(constant.sample))
	p99 := millis(late).at(0.99)
	return []Row{
		{What: "look-up " + q.name + ", of the bare SQL", Measured: toSQL.with("%.2f"), Target: "≥ 0.8", Pass: toSQL.median() >= 0.8,
			Note: fmt.Sprintf("hub %s; pgx %s", served, bare)},
		{What: "look-up " + q.name + ", of SQL and HTTP together", Measured: ofBoth.with("%.2f"), Target: "–", Pass: true,
			Note: "held against the bare SQL and the constant body one after the other"},
		{What: "look-up " + q.name + ", of a constant body", Measured: toConstant.with("%.2f"), Target: "–", Pass: true,
			Goal: "≥ 0.8", Met: toConstant.median() >= 0.8, Note: fmt.Sprintf("constant body %s", constant)},
		{What: "look-up " + q.name + ", p99 at half load", Measured: fmt.Sprintf("%.1f ms", p99), Target: "< 20 ms", Pass: p99 < 20,
			Note: fmt.Sprintf("median %.1f ms, %d pages at %.0f/s", millis(late).median(), len(late), served.median()/2)},
	}
}

// warm asks everything once: a hub that serves has its directory in memory.
func (w *town) warm(t testing.TB, o options, q question) {
	bare := w.bare(t, o, q)
	var n atomic.Int64
	_, err := flood(o.Workers, time.Hour, func(worker int) error {
		if int(n.Add(1)) > len(q.asked) {
			return errDrained
		}
		return bare(worker)
	})
	if err != errDrained {
		stage.Must(t, err)
	}
}

func (w *town) url(asked string) string {
	return fmt.Sprintf("%s/agents?cap=%s&limit=%d", w.URL, url.QueryEscape(asked), pageSize)
}

// asking asks the hub, the questions in turn.
func (w *town) asking(t testing.TB, o options, q question) func(int) error {
	lines := dial(t, w.URL, o.Workers)
	requests := make([][]byte, len(q.asked))
	for i, asked := range q.asked {
		requests[i] = get(t, w.url(asked))
	}
	var n atomic.Int64
	return func(worker int) error {
		_, err := lines[worker].ask(requests[int(n.Add(1))%len(requests)])
		return err
	}
}

// bare asks the database what the hub asks it, and reads the rows.
func (w *town) bare(t testing.TB, o options, q question) func(int) error {
	conns := connect(t, w.database, o.Workers)
	statements := make([]bench.Statement, len(q.asked))
	for i, asked := range q.asked {
		statements[i] = q.bare(asked)
	}
	var n atomic.Int64
	return func(worker int) error {
		s := statements[int(n.Add(1))%len(statements)]
		rows, err := conns[worker].Query(context.Background(), s.SQL, s.Args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			rows.RawValues()
		}
		return rows.Err()
	}
}

// constant asks a face for one of the hub's answers.
func (w *town) constant(t testing.TB, o options, q question) func(int) error {
	body, err := dial(t, w.URL, 1)[0].ask(get(t, w.url(q.asked[0])))
	stage.Must(t, err)
	face := startFace(t, bench.Face{Agents: body})
	lines, request := dial(t, face.URL, o.Workers), get(t, face.URL+"/agents?cap=x&limit=50")
	return func(worker int) error {
		_, err := lines[worker].ask(request)
		return err
	}
}
