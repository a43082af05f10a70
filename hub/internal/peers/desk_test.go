package peers

import (
	"context"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// shelf is a table for operators, in memory.
type shelf struct {
	list []Standing
	acts []audit.Act
}

func (s *shelf) Standings(context.Context) ([]Standing, error) { return s.list, nil }

func (s *shelf) Progress(context.Context, int64) ([]Progress, error) { return nil, nil }

func (s *shelf) Add(_ context.Context, p Peer, act audit.Act) error {
	p.ID = int64(len(s.list)) + 1
	s.list, s.acts = append(s.list, Standing{Peer: p}), append(s.acts, act)
	return nil
}

func (s *shelf) Change(_ context.Context, id int64, act audit.Act, do func(*Peer) error) error {
	p := s.list[id-1].Peer
	if err := do(&p); err != nil {
		return err
	}
	s.list[id-1].Peer, s.acts = p, append(s.acts, act)
	return nil
}

func (s *shelf) Remove(_ context.Context, id int64, _ bool, act audit.Act) error {
	s.list, s.acts = append(s.list[:id-1], s.list[id:]...), append(s.acts, act)
	return nil
}

func deskOf(hubs map[string]*identity.Controller, list ...Peer) (*Desk, *shelf, *world) {
	w, s := newWorld(), &shelf{}
	w.hubs = hubs
	for i, p := range list {
		p.ID = int64(i) + 1
		s.list = append(s.list, Standing{Peer: p})
	}
	return NewDesk(s, w, func() time.Time { return time.Unix(1e9, 0) }), s, w
}

func TestMeet(t *testing.T) {
	self, one, two, known := newKey(t), newKey(t), newKey(t), newKey(t)
	hubs := map[string]*identity.Controller{"https://self": self, "https://one": one, "https://two": two, "https://known": known, "https://k2": known}
	gone := errs.New(errs.BadGateway, "peer_unreachable", "gone")
	refused := errs.New(errs.BadGateway, "address_refused", "inside")
	tests := []struct {
		says   string
		offer  Offer
		proven bool
		reason string
	}{
		{"whoever proves itself", Offer{Endpoint: "https://One/"}, true, ""},
		{"the AID that was expected", Offer{Endpoint: "https://one", AID: one.AID()}, true, ""},
		{"another AID than was expected", Offer{Endpoint: "https://one", AID: two.AID()}, false, "peer_aid_differs"},
		{"one that is away, by its AID", Offer{Endpoint: "https://gone", AID: one.AID()}, false, ""},
		{"one that is away, and nobody knows who", Offer{Endpoint: "https://gone"}, false, "peer_unreachable"},
		{"one inside, whatever its AID", Offer{Endpoint: "https://inside", AID: one.AID()}, false, "address_refused"},
		{"this hub", Offer{Endpoint: "https://self"}, false, "peer_is_self"},
		{"this hub, by its AID", Offer{Endpoint: "https://gone", AID: self.AID()}, false, "peer_is_self"},
		{"the address of a peer", Offer{Endpoint: "https://KNOWN:443/"}, false, "peer_endpoint_taken"},
		{"a peer at another address", Offer{Endpoint: "https://k2", Name: "k2"}, false, "peer_known"},
		{"the name of a peer", Offer{Endpoint: "https://one", Name: "known"}, false, "peer_name_taken"},
		{"a name that is none", Offer{Endpoint: "https://one", Name: "One"}, false, "peer_name_invalid"},
		{"no AID", Offer{Endpoint: "https://gone", AID: "bafy"}, false, "peer_aid_invalid"},
		{"no address", Offer{Endpoint: "one"}, false, "peer_endpoint_invalid"},
	}
	for _, tt := range tests {
		d, _, w := deskOf(hubs, Peer{AID: known.AID(), Endpoint: "https://known", Name: "known"})
		w.gone = map[string]error{"https://gone": gone, "https://inside": refused}
		p, err := d.Meet(t.Context(), self.AID(), tt.offer)
		switch {
		case tt.reason != "":
			if !errs.Is(err, tt.reason) {
				t.Errorf("%s: %v, want %s", tt.says, err, tt.reason)
			}
		case err != nil || p.Proven() != tt.proven || p.AID != one.AID():
			t.Errorf("%s: %+v, %v", tt.says, p, err)
		}
	}
}

func TestDeskChanges(t *testing.T) {
	on, off, name, bad := true, false, "uno", "No Name"
	by := audit.By{Who: "me"}
	tests := []struct {
		says   string
		peer   Peer
		do     func(*Desk, context.Context, Standing) error
		want   func(Peer) bool
		act    string
		reason string
	}{
		{"delivery off", Peer{Delivery: true}, func(d *Desk, ctx context.Context, s Standing) error { return d.Set(ctx, s, Change{Delivery: &off}, by) },
			func(p Peer) bool { return !p.Delivery && !p.Discovery }, "peer.set", ""},
		{"all of it", Peer{}, func(d *Desk, ctx context.Context, s Standing) error {
			return d.Set(ctx, s, Change{Delivery: &on, Discovery: &on, Name: &name}, by)
		}, func(p Peer) bool { return p.Delivery && p.Discovery && p.Name == "uno" }, "peer.set", ""},
		{"what it is already", Peer{Delivery: true}, func(d *Desk, ctx context.Context, s Standing) error { return d.Set(ctx, s, Change{Delivery: &on}, by) }, nil, "", "peer_unchanged"},
		{"a name that is none", Peer{}, func(d *Desk, ctx context.Context, s Standing) error { return d.Set(ctx, s, Change{Name: &bad}, by) }, nil, "", "peer_name_invalid"},
		{"one of the file", Peer{FromFile: true}, func(d *Desk, ctx context.Context, s Standing) error { return d.Set(ctx, s, Change{Delivery: &on}, by) }, nil, "", "peer_in_file"},
		{"a pause", Peer{}, func(d *Desk, ctx context.Context, s Standing) error { return d.Pause(ctx, s, by) }, func(p Peer) bool { return p.Paused }, "peer.pause", ""},
		{"a pause of one of the file", Peer{FromFile: true}, func(d *Desk, ctx context.Context, s Standing) error { return d.Pause(ctx, s, by) }, func(p Peer) bool { return p.Paused }, "peer.pause", ""},
		{"a second pause", Peer{Paused: true}, func(d *Desk, ctx context.Context, s Standing) error { return d.Pause(ctx, s, by) }, nil, "", "peer_unchanged"},
		{"its end", Peer{Paused: true}, func(d *Desk, ctx context.Context, s Standing) error { return d.Resume(ctx, s, by) }, func(p Peer) bool { return !p.Paused }, "peer.resume", ""},
		{"the end of none", Peer{}, func(d *Desk, ctx context.Context, s Standing) error { return d.Resume(ctx, s, by) }, nil, "", "peer_unchanged"},
		{"one of the file taken out", Peer{FromFile: true}, func(d *Desk, ctx context.Context, s Standing) error { return d.Remove(ctx, s, false, by) }, nil, "", "peer_in_file"},
	}
	for _, tt := range tests {
		tt.peer.AID, tt.peer.Endpoint, tt.peer.Name = aidOne, "https://one", "one"
		d, s, _ := deskOf(nil, tt.peer)
		found, err := d.Find(t.Context(), "https://ONE/")
		if err != nil {
			t.Fatal(err)
		}
		err = tt.do(d, t.Context(), found)
		if tt.reason != "" {
			if !errs.Is(err, tt.reason) || len(s.acts) > 0 {
				t.Errorf("%s: %v, want %s", tt.says, err, tt.reason)
			}
			continue
		}
		if err != nil || !tt.want(s.list[0].Peer) || len(s.acts) != 1 || s.acts[0].What != tt.act || s.acts[0].Target != aidOne {
			t.Errorf("%s: %+v, %+v, %v", tt.says, s.list[0].Peer, s.acts, err)
		}
	}
}

func TestFindByWhateverNamesIt(t *testing.T) {
	d, _, _ := deskOf(nil, Peer{AID: aidOne, Endpoint: "https://one", Name: "first"}, Peer{AID: aidTwo, Endpoint: "https://two", Name: "second"})
	for _, word := range []string{"second", aidTwo, "https://two", "https://two/", "https://TWO:443"} {
		if s, err := d.Find(t.Context(), word); err != nil || s.Name != "second" {
			t.Errorf("%s finds %q, %v", word, s.Name, err)
		}
	}
	for _, word := range []string{"", "third", "http://two", "two"} {
		if _, err := d.Find(t.Context(), word); !errs.Is(err, "peer_unknown") {
			t.Errorf("%q: %v", word, err)
		}
	}
}
