package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/peers"
)

// filedAs is a file of peers, each "name aid endpoint", with an ! for one without
// delivery.
func filedAs(list ...string) (out []peers.Entry) {
	for i, text := range list {
		w := strings.Fields(text)
		out = append(out, peers.Entry{At: fmt.Sprintf("line %d", i+1), Peer: peers.Peer{
			Name: strings.TrimSuffix(w[0], "!"), AID: "aid-" + w[1], Endpoint: "https://" + w[2], Delivery: !strings.HasSuffix(w[0], "!"), Discovery: true, FromFile: true,
		}})
	}
	return out
}

func said(p peers.Peer) string {
	text := strings.TrimPrefix(p.AID, "aid-") + "=" + p.Name + "@" + strings.TrimPrefix(p.Endpoint, "https://")
	for mark, is := range map[string]bool{"!": !p.Delivery, "*": !p.FromFile, "?": p.Paused} {
		if is {
			text += mark
		}
	}
	return text
}

func TestPeersOfAFile(t *testing.T) {
	s := peerTable(t, "x", "y") // by command
	steps := []struct {
		says    string
		file    []peers.Entry
		changed int
		want    string
	}{
		{"no file changes nothing", nil, 0, "x=x@x* y=y@y*"},
		{"the file's come first", filedAs("a 1 ha", "b! 2 hb"), 2, "1=a@ha 2=b@hb! x=x@x* y=y@y*"},
		{"again is nothing", filedAs("a 1 ha", "b! 2 hb"), 0, "1=a@ha 2=b@hb! x=x@x* y=y@y*"},
		{"names and addresses are swapped", filedAs("b 1 hb", "a! 2 ha"), 2, "1=b@hb 2=a@ha! x=x@x* y=y@y*"},
		{"the order is the file's", filedAs("a! 2 ha", "b 1 hb"), 2, "2=a@ha! 1=b@hb x=x@x* y=y@y*"},
		{"who is gone from it is removed", filedAs("b 1 hb"), 1, "1=b@hb x=x@x* y=y@y*"},
		{"one of a command's becomes the file's", filedAs("b 1 hb", "why y hy"), 2, "1=b@hb y=why@hy x=x@x*"},
		{"the file is gone", nil, 2, "x=x@x*"},
	}
	for _, step := range steps {
		changed, err := s.Sync(t.Context(), step.file, did("serve"))
		if err != nil {
			t.Fatalf("%s: %v", step.says, err)
		}
		list, err := s.Peers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			got = append(got, said(p))
		}
		if strings.Join(got, " ") != step.want || changed != step.changed {
			t.Errorf("%s: %v after %d changes, want %s after %d", step.says, got, changed, step.want, step.changed)
		}
	}
	acts, err := NewAudit(s.pool).Acts(t.Context(), audit.Question{Limit: 99})
	if err != nil || acts[0].What != "peer.remove" || acts[0].Who != "me" {
		t.Errorf("what was done is not written down: %+v, %v", acts[:1], err)
	}
}

func TestAFileKeepsWhatIsNotItsWord(t *testing.T) {
	s := peerTable(t)
	if _, err := s.Sync(t.Context(), filedAs("a 1 ha"), did("serve")); err != nil {
		t.Fatal(err)
	}
	a := s.named(t, "a")
	if err := s.Proved(t.Context(), a.Peer, []byte("kel"), peersAt, peersAt); err != nil {
		t.Fatal(err)
	}
	if err := s.Change(t.Context(), a.ID, did("peer.pause"), func(p *peers.Peer) error { p.Paused = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sync(t.Context(), filedAs("z 9 hz", "a 1 elsewhere"), did("serve")); err != nil {
		t.Fatal(err)
	}
	if got := s.named(t, "a"); got.ID != a.ID || !got.Paused || string(got.KEL) != "kel" || got.Endpoint != "https://elsewhere" {
		t.Errorf("it reads back as %+v", got)
	}
}

// The file is the word on who goes, whatever is owed: what was is on record.
func TestAFileTakesOutWhoIsInDebt(t *testing.T) {
	s := peerTable(t)
	if _, err := s.Sync(t.Context(), filedAs("a 1 ha"), did("serve")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), `INSERT INTO clearing (aid, is_open, most, owed, due) VALUES ($1, true, 100, 30, 12)`, s.named(t, "a").AID); err != nil {
		t.Fatal(err)
	}
	if changed, err := s.Sync(t.Context(), nil, did("serve")); err != nil || changed != 1 {
		t.Fatalf("%d changes, %v", changed, err)
	}
	acts, err := NewAudit(s.pool).Acts(t.Context(), audit.Question{Limit: 1})
	if err != nil || acts[0].What != "peer.remove" || acts[0].Detail["owed"] != 30.0 || acts[0].Detail["due"] != 12.0 {
		t.Errorf("on record: %+v, %v", acts, err)
	}
}

// What a command entered is not taken from it, and the line that wants it is named.
func TestAFileTakesNothingFromACommand(t *testing.T) {
	s := peerTable(t, "x")
	for _, file := range [][]peers.Entry{filedAs("a 1 ha", "b 2 x"), filedAs("a 1 ha", "x 2 hb")} {
		_, err := s.Sync(t.Context(), file, did("serve"))
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: %v", said(file[1].Peer), err)
		}
	}
	if list, err := s.Peers(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%d peers, %v", len(list), err)
	}
}
