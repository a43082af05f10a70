package ledger_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	. "github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// watched is a peer whose chain is looked at.
type watched struct {
	ledgertest.Alone
	aid  string
	head wire.ChainHead
	told int // attestations that were brought
}

func (w *watched) All() []string { return []string{w.aid} }

func (w *watched) Head(context.Context, string) (wire.ChainHead, error) { return w.head, nil }

func (w *watched) Witness(context.Context, string, []byte) error { w.told++; return nil }

// notes are what was seen of it last.
type notes struct {
	*ledgertest.Books
	seq uint64
	id  string
}

func (n *notes) LookAgain(_ context.Context, hubs []string, _, _ time.Time) ([]string, error) {
	return hubs, nil
}

func (n *notes) LastSeen(context.Context, string) (uint64, string, error) { return n.seq, n.id, nil }

func (n *notes) Saw(_ context.Context, _ string, a Attested) error {
	n.seq, n.id = a.Seq, a.HeadID
	return nil
}

// Number 51, J.5: what is attested is the chain of the peer itself, and none that is
// less than it was. One that has not begun is no fault.
func TestLook(t *testing.T) {
	for _, tt := range []struct {
		why    string
		seen   string // of record 5, empty for nothing
		change func(*wire.ChainHead)
		told   int
		log    string
	}{
		{"the first look", "", func(*wire.ChainHead) {}, 1, ""},
		{"it goes on", "five", func(*wire.ChainHead) {}, 1, ""},
		{"it stands still", "five", func(h *wire.ChainHead) { h.Seq, h.HeadID = 5, "five" }, 1, ""},
		{"it has not begun", "", func(h *wire.ChainHead) { *h = wire.ChainHead{} }, 0, ""},
		{"another hub's", "", func(h *wire.ChainHead) { h.ChainDID = "other" }, 0, "another chain"},
		{"beyond what can be counted", "", func(h *wire.ChainHead) { h.Seq = 1 << 63 }, 0, "another chain"},
		{"shorter than it was", "five", func(h *wire.ChainHead) { h.Seq = 4 }, 0, "went back"},
		{"gone altogether", "five", func(h *wire.ChainHead) { h.Seq, h.HeadID = 0, "" }, 0, "went back"},
		{"gone, and says nothing", "five", func(h *wire.ChainHead) { *h = wire.ChainHead{} }, 0, "went back"},
		{"another record in the same place", "five", func(h *wire.ChainHead) { h.Seq, h.HeadID = 5, "cinq" }, 0, "went back"},
	} {
		b, log := newBank(t), &bytes.Buffer{}
		w, n := &watched{aid: testkit.Agent(t, 9).AID()}, &notes{Books: b.books}
		w.head = wire.ChainHead{ChainDID: w.aid, Seq: 6, HeadID: "six"}
		if n.id = tt.seen; n.id != "" {
			n.seq = 5
		}
		tt.change(&w.head)
		b.Store, b.Peers, b.Log = n, w, slog.New(slog.NewTextHandler(log, nil))
		if err := b.WitnessPeers(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.told != tt.told || (log.Len() > 0) != (tt.log != "") || !strings.Contains(log.String(), tt.log) {
			t.Errorf("%s: %d attestations, and the log says %q; want %d and %q", tt.why, w.told, log, tt.told, tt.log)
		}
	}
}
