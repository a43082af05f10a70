package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubtest"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/effect"
)

// story runs f in a bubble of virtual time: waiting for minutes costs nothing,
// and nothing in it depends on the speed of the machine.
func story(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: dir, hub: hubtest.New()}
		defer w.close()
		f(t, w)
	})
}

type world struct {
	t     *testing.T
	dir   string
	hub   *hubtest.Hub
	nodes []*running
}

// running is one process of a node.
type running struct {
	*Node
	line  *hubtest.Line
	dir   string
	stop  context.CancelFunc
	ended chan error
}

type option func(*Parts)

func open(p *Parts) { p.Policy = func() config.Policy { return config.Open } }

// unpayable is a node whose hub keeps no ledger.
func unpayable(p *Parts) { p.Ledger = nil }

func public(list ...config.PublicCapability) option { return func(p *Parts) { p.Public = list } }

func serving(all ...provider.Provider) option {
	return func(p *Parts) {
		r := &provider.Registry{}
		for _, one := range all {
			if err := r.Register(one); err != nil {
				panic(err)
			}
		}
		p.Providers = r
	}
}

// node makes a new node and starts it.
func (w *world) node(name string, options ...option) *running {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	folder, err := datadir.Open(dir)
	w.must(err)
	_, err = keyring.Init(folder, time.Now())
	w.must(err)
	w.must(folder.Write("journal.db", emptyJournal))
	return w.start(dir, options...)
}

// emptyJournal is a journal with its tables: making them anew for every node
// would take most of the time of these tests.
var emptyJournal []byte

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "journal")
	if err == nil {
		defer os.RemoveAll(dir)
		emptyJournal, err = makeJournal(filepath.Join(dir, "journal.db"))
	}
	if err != nil {
		panic(err)
	}
	m.Run()
}

func makeJournal(path string) ([]byte, error) {
	j, err := journal.Open(context.Background(), path, time.Now)
	if err != nil {
		return nil, err
	}
	if err := j.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// start runs a node on a folder that has one.
func (w *world) start(dir string, options ...option) *running {
	w.t.Helper()
	folder, err := datadir.Open(dir)
	w.must(err)
	keys, err := keyring.Open(folder, time.Now())
	w.must(err)
	keyset, err := keys.Published(time.Now())
	w.must(err)
	j, err := journal.Open(w.t.Context(), folder.Path("journal.db"), time.Now)
	w.must(err)
	w.hub.Register(keys.AID(), keys.Signer().KEL(), keyset)
	r := &running{dir: dir, line: w.hub.Line(keys.AID()), ended: make(chan error, 1)}
	p := Parts{
		Journal: j, Keys: keys, Lists: peers.In(folder), Relay: r.line, Providers: &provider.Registry{},
		Ledger: r.line.Purse(), Limits: config.DefaultLimits, Extended: func(bool) ([]byte, error) { return nil, nil },
		Policy:          func() config.Policy { return config.Closed },
		Strangers:       config.DefaultStrangers(),
		NoResponseAfter: config.DefaultNoResponse, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	for _, o := range options {
		o(&p)
	}
	r.Node = New(p)
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- r.Run(ctx) }()
	w.nodes = append(w.nodes, r)
	return r
}

// end stops a node and waits until it has.
func (w *world) end(r *running) {
	w.t.Helper()
	i := slices.Index(w.nodes, r)
	if i < 0 {
		return
	}
	w.nodes = slices.Delete(w.nodes, i, i+1)
	r.stop()
	w.must(<-r.ended)
	w.must(r.Journal.Close())
}

func (w *world) close() {
	for len(w.nodes) > 0 {
		w.end(w.nodes[0])
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// wait is how a person waits: until the task ends or the time is over.
func (w *world) wait(r *running, id string, most time.Duration) Task {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	t, err := r.Task(w.t.Context(), id)
	for err == nil && !t.Ended && ctx.Err() == nil {
		t, err = r.Wait(ctx, id, t.Version)
	}
	w.must(err)
	return t
}

// call delegates and waits for the end.
func (w *world) call(from *running, order Order) Task {
	w.t.Helper()
	t, err := from.StartTask(w.t.Context(), order)
	w.must(err)
	return w.wait(from, t.ID, time.Minute)
}

// ask sends a text and does not wait.
func (w *world) ask(from, to *running, words string) Task {
	w.t.Helper()
	t, err := from.StartTask(w.t.Context(), Order{Provider: to.aid(), Text: words})
	w.must(err)
	return t
}

// task is how a node sees a task now.
func (w *world) task(r *running, id string) Task {
	w.t.Helper()
	t, err := r.Task(w.t.Context(), id)
	w.must(err)
	return t
}

func (r *running) aid() string { return r.Keys.AID() }

func (w *world) allow(at, peer *running) { w.must(at.Lists.Put(peer.aid(), peers.Allow)) }

// inbox is what a node holds as a provider.
func (w *world) inbox(r *running) []Task {
	w.t.Helper()
	page, err := r.List(w.t.Context(), Inbox())
	w.must(err)
	return page.Tasks
}

// snapshot copies a node's folder as it is: what a kill in this moment leaves.
func (w *world) snapshot(r *running) string {
	to := r.dir + fmt.Sprintf("-killed-%d", len(w.nodes))
	for _, err := range []error{os.CopyFS(to, os.DirFS(r.dir)), os.Chmod(to, 0o700)} {
		w.must(err)
	}
	names, err := filepath.Glob(filepath.Join(to, "*"))
	w.must(err)
	for _, name := range names {
		w.must(os.Chmod(name, 0o600))
	}
	return to
}

// counter is a provider whose calls have a side effect that can be counted.
type counter struct {
	cap   string
	limit time.Duration // a minute when 0
	price uint64

	mu      sync.Mutex
	effects int
	after   func() // runs between the effect and its report
	block   chan struct{}
	deaf    bool // works on though its call was ended
	out     provider.Outcome
}

func (c *counter) ID() string                    { return "counter-" + c.cap }
func (c *counter) Capabilities() []string        { return []string{c.cap} }
func (c *counter) Describe(id string) card.Skill { return card.Skill{ID: id} }
func (c *counter) Health(context.Context) error  { return nil }
func (c *counter) Limit(string) time.Duration    { return cmp.Or(c.limit, time.Minute) }
func (c *counter) Price(string) (uint64, bool)   { return c.price, c.price > 0 }
func (c *counter) count() int                    { c.mu.Lock(); defer c.mu.Unlock(); return c.effects }
func (c *counter) Invoke(ctx context.Context, call provider.Call) provider.Outcome {
	c.mu.Lock()
	c.effects++
	after, block, out := c.after, c.block, c.out
	c.mu.Unlock()
	if after != nil {
		after()
	}
	if block != nil && c.deaf {
		<-block
	} else if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return provider.Unverified("connection_lost", "cut off")
		}
	}
	if out.Status == "" {
		out = provider.Outcome{Status: effect.OK, Metrics: json.RawMessage(fmt.Sprintf(`{"bytes":%d}`, len(call.Args)))}
	}
	return out
}
