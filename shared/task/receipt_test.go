package task

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
)

// Checklist 29: a result is accepted with every binding of its receipt only.
func TestCheckReceipt(t *testing.T) {
	bob, mallory := agent(t), agent(t)
	rotated, err := bob.Rotate(rand.Reader, made.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	deliverable := []byte(`{"ok":true}`)
	order := Ordered{Requester: "alice", Provider: bob.AID(), Ix: NewID(), RequestCID: codec.CID([]byte("request"))}
	receipt := evidence.Receipt{
		Interaction: order.Ix, Requester: "alice", Provider: bob.AID(),
		RequestCID: order.RequestCID, ResultCID: codec.CID(deliverable), CompletedAt: ms(made),
	}
	sign := func(c *identity.Controller, edit func(*evidence.Receipt)) []byte {
		r := receipt
		edit(&r)
		wire, _, err := evidence.SignReceipt(c, r)
		if err != nil {
			t.Fatal(err)
		}
		return wire
	}
	as := func(*evidence.Receipt) {}
	for _, tt := range []struct {
		name string
		edit func(*ResultResp, *Ordered, *Sender)
		ok   bool
	}{
		{"as made", func(*ResultResp, *Ordered, *Sender) {}, true},
		{"with the beginning of a longer history", func(r *ResultResp, _ *Ordered, s *Sender) { r.KEL, s.History = bob.KEL(), rotated.History() }, true},
		{"with more history than known", func(r *ResultResp, _ *Ordered, _ *Sender) { r.KEL = rotated.KEL() }, false},
		{"with somebody else's history", func(r *ResultResp, _ *Ordered, _ *Sender) { r.KEL = mallory.KEL() }, false},
		{"without a receipt", func(r *ResultResp, _ *Ordered, _ *Sender) { r.Receipt = nil }, false},
		{"with a broken receipt", func(r *ResultResp, _ *Ordered, _ *Sender) { r.Receipt = r.Receipt[:9] }, false},
		{"another deliverable", func(r *ResultResp, _ *Ordered, _ *Sender) { r.Deliverable = []byte(`{"ok":false}`) }, false},
		{"no deliverable", func(r *ResultResp, _ *Ordered, _ *Sender) { r.Deliverable = nil }, false},
		{"of another request", func(_ *ResultResp, o *Ordered, _ *Sender) { o.RequestCID = codec.CID([]byte("other")) }, false},
		{"of a request nobody remembers", func(r *ResultResp, o *Ordered, _ *Sender) {
			o.RequestCID = ""
			r.Receipt = sign(bob, func(e *evidence.Receipt) { e.RequestCID = "" })
		}, false},
		{"for another requester", func(_ *ResultResp, o *Ordered, _ *Sender) { o.Requester = "carol" }, false},
		{"for another task", func(r *ResultResp, _ *Ordered, _ *Sender) {
			r.Receipt = sign(bob, func(e *evidence.Receipt) { e.Interaction = NewID() })
		}, false},
		{"brought under another task", func(_ *ResultResp, _ *Ordered, s *Sender) { s.Ix = NewID() }, false},
		{"naming another provider", func(r *ResultResp, _ *Ordered, _ *Sender) {
			r.Receipt = sign(bob, func(e *evidence.Receipt) { e.Provider = mallory.AID() })
		}, false},
		{"signed by somebody else", func(r *ResultResp, _ *Ordered, _ *Sender) { r.Receipt = sign(mallory, as) }, false},
		{"brought by somebody else", func(r *ResultResp, _ *Ordered, s *Sender) {
			r.Receipt = sign(mallory, as)
			s.AID, s.History = mallory.AID(), mallory.History()
		}, false},
		{"a true receipt brought by somebody else", func(_ *ResultResp, _ *Ordered, s *Sender) { s.AID, s.History = mallory.AID(), mallory.History() }, false},
		{"dated after the key retired", func(_ *ResultResp, _ *Ordered, s *Sender) {
			s.History, s.TS = rotated.History(), ms(made.Add(2*time.Hour))
		}, false},
		{"signed with the new key", func(r *ResultResp, _ *Ordered, s *Sender) {
			r.Receipt = sign(rotated, as)
			s.History, s.TS = rotated.History(), ms(made.Add(2*time.Hour))
		}, true},
	} {
		r := ResultResp{Status: StatusDone, Deliverable: deliverable, Receipt: sign(bob, as)}
		o, s := order, Sender{AID: bob.AID(), Ix: order.Ix, TS: ms(made.Add(time.Minute)), History: bob.History()}
		tt.edit(&r, &o, &s)
		if _, err := r.CheckReceipt(o, s); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want accepted %v", tt.name, err, tt.ok)
		}
	}
}
