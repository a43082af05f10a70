package peers

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// board is a table in memory; stamp counts its changes.
type board struct {
	list  []Peer
	stamp int
	reads int
	down  error
}

func (b *board) Stamp(context.Context) (string, error) { return strconv.Itoa(b.stamp), b.down }

func (b *board) Peers(context.Context) ([]Peer, error) {
	b.reads++
	return slices.Clone(b.list), b.down
}

func tableOf(t *testing.T, s Switches, list ...Peer) (*Table, *board) {
	t.Helper()
	b := &board{list: list, stamp: 1}
	table := NewTable(b, s, slog.New(slog.DiscardHandler))
	if err := table.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return table, b
}

func names(list []Peer) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Name)
	}
	return strings.Join(out, " ")
}

func TestTablePicks(t *testing.T) {
	kel := []byte{1}
	list := []Peer{
		{ID: 1, AID: "a", Name: "both", Delivery: true, Discovery: true, KEL: kel},
		{ID: 2, AID: "b", Name: "mail", Delivery: true, KEL: kel},
		{ID: 3, AID: "c", Name: "cards", Discovery: true, KEL: kel},
		{ID: 4, AID: "d", Name: "paused", Delivery: true, Discovery: true, Paused: true, KEL: kel},
		{ID: 5, AID: "e", Name: "unproven", Delivery: true, Discovery: true},
	}
	table, _ := tableOf(t, Switches{}, list...)
	if got := names(table.Delivering()); got != "both mail" {
		t.Errorf("delivering: %s", got)
	}
	if got := names(table.Discovering()); got != "both cards" {
		t.Errorf("discovering: %s", got)
	}
	if got := names(table.All()); got != "both mail cards paused unproven" {
		t.Errorf("all: %s", got)
	}
	if p, ok := table.ByAID("d"); !ok || p.Name != "paused" {
		t.Errorf("ByAID gives %+v, %v", p, ok)
	}
}

func TestSwitches(t *testing.T) {
	mail, cards := Peer{ID: 1, AID: "a", Name: "mail", Delivery: true, KEL: []byte{1}}, Peer{ID: 2, AID: "b", Name: "cards", Discovery: true, KEL: []byte{1}}
	paused, held := cards, mail
	paused.Paused, held.Paused = true, true
	tests := []struct {
		says                string
		switches            Switches
		list                []Peer
		delivery, discovery bool
	}{
		{"nobody, nothing", Switches{}, nil, false, false},
		{"a peer switches on what it is for", Switches{}, []Peer{mail}, true, false},
		{"and no more", Switches{}, []Peer{cards}, false, true},
		{"a paused one switches no discovery on", Switches{}, []Peer{paused}, false, false},
		{"but delivery: its agents may be there", Switches{}, []Peer{held}, true, false},
		{"off is off", Switches{Off, Off}, []Peer{mail, cards}, false, false},
		{"on is on without peers", Switches{On, On}, nil, true, true},
	}
	for _, tt := range tests {
		table, _ := tableOf(t, tt.switches, tt.list...)
		if table.DeliveryOn() != tt.delivery || table.DiscoveryOn() != tt.discovery {
			t.Errorf("%s: delivery %v, discovery %v", tt.says, table.DeliveryOn(), table.DiscoveryOn())
		}
		if !tt.delivery && len(table.Delivering()) > 0 || !tt.discovery && len(table.Discovering()) > 0 {
			t.Errorf("%s: a peer is worked with all the same", tt.says)
		}
	}
}

func TestTableFollows(t *testing.T) {
	table, b := tableOf(t, Switches{}, Peer{ID: 1, AID: "a", Name: "one"})
	b.list = []Peer{{ID: 2, AID: "b", Name: "two"}}
	_ = table.Refresh(t.Context())
	if got := names(table.All()); got != "one" || b.reads != 1 {
		t.Errorf("without a change it was read %d times: %s", b.reads, got)
	}
	b.stamp++
	_ = table.Refresh(t.Context())
	if got := names(table.All()); got != "two" {
		t.Errorf("after a change: %s", got)
	}
	b.stamp++
	b.down = errors.New("down")
	if err := table.Refresh(t.Context()); err == nil || names(table.All()) != "two" {
		t.Errorf("a database that is gone takes the table with it: %v", err)
	}
}
