package control

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/nodetest"
	"github.com/anet-hub/anet/shared/errs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, below string) datadir.Dir {
	t.Helper()
	dir, err := datadir.Open(filepath.Join(t.TempDir(), below))
	must(t, err)
	return dir
}

// serve runs a node on the folder until the test ends or a client stops it.
func serve(t *testing.T, dir datadir.Dir, api node.API) {
	t.Helper()
	claim, err := Take(dir)
	must(t, err)
	l, err := claim.Listen()
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := Serve(ctx, l, api, stop)
		claim.Release()
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func client(t *testing.T, dir datadir.Dir) *Client {
	t.Helper()
	c := Dial(dir)
	t.Cleanup(c.Close)
	return c
}

// encoded compares as the reader of JSON does, to whom nil and null are one.
func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

func TestEveryOperationArrives(t *testing.T) {
	api := nodetest.New()
	api.Now = node.Status{AID: "me", Listed: []string{"a"}, Dropped: map[string]int{"x": 1}}
	api.Agents = []node.Agent{{AID: "p", Name: "n", Capabilities: []string{"a"}}}
	api.Cards = map[string]node.Card{"p": {AID: "p", Verified: true, Card: []byte(`{"a":1}`)}}
	api.Attached = map[string]node.File{"cid": {Name: "f", Size: 3, Data: []byte{0, 1, 0xff}}}
	api.Identified = node.Identity{AID: "me", KEL: []byte{1}}
	dir := folder(t, "n")
	serve(t, dir, api)
	c, ctx := client(t, dir), context.Background()
	started, err := c.StartTask(ctx, node.Order{Provider: "p", Capability: "a", Args: []byte(`{"n":1}`)})
	must(t, err)

	if got, err := c.Review(ctx, started.ID, node.Opinion{Rating: 4, Comment: "fast"}); err != nil || got.Review.Rating != 4 || got.Review.Comment != "fast" {
		t.Errorf("review: %+v, %v", got.Review, err)
	}

	api.May.ExplicitMax = 9
	api.Put(node.Task{ID: "dear", Role: node.Requester, State: "input-required", Payment: &node.Payment{Status: node.PayRequired, Amount: "5"}})
	if got, err := c.Pay(ctx, "dear", node.Consent{Max: 5}); err != nil || got.Payment.Status != node.PaySubmitted {
		t.Errorf("pay: %+v, %v", got.Payment, err)
	}

	same := []struct {
		what string
		ask  func(node.API) (any, error)
	}{
		{"task", func(a node.API) (any, error) { return a.Task(ctx, started.ID) }},
		{"list", func(a node.API) (any, error) { return a.List(ctx, node.Query{Role: node.Requester}) }},
		{"inbox", func(a node.API) (any, error) { return a.List(ctx, node.Inbox()) }},
		{"file", func(a node.API) (any, error) { return a.File(ctx, started.ID, "cid") }},
		{"find", func(a node.API) (any, error) { return a.Find(ctx, node.FindQuery{Cap: "a"}) }},
		{"card", func(a node.API) (any, error) { return a.Card(ctx, "p") }},
		{"status", func(a node.API) (any, error) { return a.Status(ctx) }},
		{"identity", func(a node.API) (any, error) { return a.Identity(ctx) }},
		{"leave", func(a node.API) (any, error) { return a.Leave(ctx) }},
		{"register", func(a node.API) (any, error) { return a.Register(ctx, "n", "i") }},
		{"profile", func(a node.API) (any, error) { return a.SetProfile(ctx, node.Profile{Summary: "s"}) }},
		{"set peer", func(a node.API) (any, error) { return nil, a.SetPeer(ctx, "q", node.Trust) }},
		{"peers", func(a node.API) (any, error) { return a.Peers(ctx) }},
		{"set policy", func(a node.API) (any, error) { return nil, a.SetPolicy(ctx, "open") }},
		{"policy", func(a node.API) (any, error) { return a.Policy(ctx) }},
		{"set visibility", func(a node.API) (any, error) { return nil, a.SetVisibility(ctx, "federated") }},
		{"visibility", func(a node.API) (any, error) { return a.Visibility(ctx) }},
		{"limits", func(a node.API) (any, error) { return a.Limits(ctx) }},
		{"set limits", func(a node.API) (any, error) { n := uint64(3); return a.SetLimits(ctx, node.LimitChange{DailyMax: &n}) }},
		{"set payee", func(a node.API) (any, error) { return a.SetPayee(ctx, "q", true) }},
		{"balance", func(a node.API) (any, error) { return a.Balance(ctx) }},
		{"account", func(a node.API) (any, error) { return a.Account(ctx, 3) }},
		{"redeem", func(a node.API) (any, error) { return a.Redeem(ctx, node.Redemption{Amount: 3, Reference: "r"}) }},
		{"wait", func(a node.API) (any, error) { return a.Wait(ctx, started.ID, -1) }},
		{"thread", func(a node.API) (any, error) { return a.Thread(ctx, started.ID) }},
	}
	for _, s := range same {
		want, wantErr := s.ask(api)
		got, gotErr := s.ask(c)
		if encoded(t, got) != encoded(t, want) || gotErr != nil || wantErr != nil {
			t.Errorf("%s: over the socket %+v, %v; directly %+v, %v", s.what, got, gotErr, want, wantErr)
		}
	}
	changed := []struct {
		what string
		do   func() error
	}{
		{"message", func() error { _, err := c.Message(ctx, started.ID, "hello", nil); return err }},
		{"cancel", func() error { _, err := c.Cancel(ctx, started.ID); return err }},
		{"end", func() error { _, err := c.End(ctx, started.ID, "bye", nil); return err }},
		{"remove peer", func() error { return c.RemovePeer(ctx, "q") }},
		{"rotate", func() error { _, err := c.RotateIdentity(ctx); return err }},
	}
	for _, s := range changed {
		if err := s.do(); err != nil {
			t.Errorf("%s: %v", s.what, err)
		}
	}
	thread, err := api.Thread(ctx, started.ID)
	must(t, err)
	if len(thread.Messages) != 3 || thread.Task.State != "completed" || api.Identified.KeySeq != 1 {
		t.Errorf("the node holds %+v", thread)
	}
}

func TestFailuresKeepWhatTheySay(t *testing.T) {
	dir := folder(t, "n")
	api := nodetest.New()
	serve(t, dir, api)
	c := client(t, dir)
	for _, want := range []*errs.Error{
		errs.New(errs.Unauthorized, "invite_required", "this hub wants an invite").In("invite"),
		errs.New(errs.TooMany, "rate", "slow down").After(1500 * time.Millisecond),
		errs.New(errs.Full, "full", "the box is full").With("limit", "7"),
		errs.New(errs.Internal, "", "open journal: disk I/O error"),
	} {
		api.RefuseHub = want
		_, err := c.Leave(context.Background())
		got := errs.As(err)
		if got == nil || got.Kind != want.Kind || got.Reason != want.Reason || got.Field != want.Field ||
			got.RetryAfter != want.RetryAfter || got.Error() != want.Error() || !reflect.DeepEqual(got.Detail, want.Detail) {
			t.Errorf("sent %+v, came as %+v", want, got)
		}
	}
}

func TestWaitEndsWithTheChangeOrTheTime(t *testing.T) {
	dir := folder(t, "n")
	api := nodetest.New()
	serve(t, dir, api)
	c := client(t, dir)
	api.Put(node.Task{ID: "t", State: "submitted"})

	short, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if got, err := c.Wait(short, "t", 1); err != nil || got.Version != 1 {
		t.Errorf("out of time: version %d, %v; want 1 and no error", got.Version, err)
	}
	answer := make(chan node.Task)
	go func() {
		got, err := c.Wait(context.Background(), "t", 1)
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	api.Put(node.Task{ID: "t", State: "working"})
	if got := <-answer; got.Version != 2 || got.State != "working" {
		t.Errorf("after the change: %+v", got)
	}
	if _, err := c.Wait(context.Background(), "nothing", -1); !errs.Is(err, "task_unknown") {
		t.Errorf("waiting for no task: %v", err)
	}
}

func TestOneNodeOwnsTheFolder(t *testing.T) {
	dir := folder(t, "n")
	serve(t, dir, nodetest.New())
	_, err := Take(dir)
	if !errs.Is(err, AlreadyRunning) || !strings.Contains(err.Error(), "anet down") {
		t.Errorf("a second claim: %v", err)
	}
	c := client(t, dir)
	about, err := c.About(context.Background())
	if err != nil || about.PID != os.Getpid() {
		t.Errorf("About = %+v, %v", about, err)
	}
	must(t, c.Stop(context.Background()))
	claim, err := Take(dir)
	if err != nil {
		t.Fatalf("after it stopped: %v", err)
	}
	must(t, claim.Release())
	if err := c.Stop(context.Background()); !errs.Is(err, NotRunning) {
		t.Errorf("stopping it twice: %v", err)
	}
}

func TestALeftSocketIsNobody(t *testing.T) {
	dir := folder(t, "n")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir.Path(socketName), Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := client(t, dir).Status(context.Background()); !errs.Is(err, NotRunning) {
		t.Errorf("a socket without a node: %v", err)
	}
	serve(t, dir, nodetest.New())
	if _, err := client(t, dir).Status(context.Background()); err != nil {
		t.Errorf("a node over a left socket: %v", err)
	}
}

func TestTheSocketIsPrivateAndShort(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	must(t, os.Chmod(os.Getenv("XDG_RUNTIME_DIR"), 0o700))
	for _, name := range []string{"n", strings.Repeat("long/", 30)} {
		dir := folder(t, name)
		serve(t, dir, nodetest.New())
		t.Run(name[:1], func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", "") // the client's environment may differ
			path, err := locate(dir)
			must(t, err)
			info, err := os.Stat(path)
			if err != nil || info.Mode() != os.ModeSocket|0o600 || len(path) > maxPath {
				t.Errorf("socket %s: %v, %v", path, info.Mode(), err)
			}
			if _, err := client(t, dir).Status(context.Background()); err != nil {
				t.Errorf("a client at %s: %v", path, err)
			}
		})
	}
}

func TestTheRuntimeFolderIsTheUsersOwn(t *testing.T) {
	open := t.TempDir()
	must(t, os.Chmod(open, 0o755))
	if err := private(open); err == nil {
		t.Error("a folder others can enter was taken")
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(t.TempDir(), link))
	if err := private(link); err == nil {
		t.Error("a link was taken for a folder")
	}
}

func TestAnUnknownOperationNamesTheRemedy(t *testing.T) {
	dir := folder(t, "n")
	serve(t, dir, nodetest.New())
	var out none
	err := client(t, dir).post(context.Background(), "/v1/fly", none{}, &out)
	if errs.KindOf(err) != errs.NotFound || !strings.Contains(err.Error(), "anet up") {
		t.Errorf("an operation of a later program: %v", err)
	}
	err = client(t, dir).post(context.Background(), startTask.path(), map[string]any{"provder": "p"}, &out)
	if errs.KindOf(err) != errs.Invalid {
		t.Errorf("a misspelt member: %v", err)
	}
}
