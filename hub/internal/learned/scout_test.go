package learned

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/peers"
)

// stand is a hub that answers with what stands under a path.
type stand map[string]func(cursor string) (status int, body []byte, err error)

func (s stand) Get(_ context.Context, url string, _ int64) (int, []byte, error) {
	path, cursor, _ := strings.Cut(strings.TrimPrefix(url, peerHome), "?cursor=")
	if answer := s[path]; answer != nil {
		return answer(cursor)
	}
	return 404, nil, nil
}

// once answers a page and, behind it, an empty one.
func once(body []byte) func(string) (int, []byte, error) {
	return func(cursor string) (int, []byte, error) {
		if cursor == "0" {
			return 200, body, nil
		}
		return 200, []byte(`{"cursor":` + cursor + `,"cards":[]}`), nil
	}
}

// town is the agents of this hub.
type town []Local

func (t town) Locals(_ context.Context, aids, names []string) (out []Local, _ error) {
	for _, l := range t {
		for _, word := range append(append([]string{}, aids...), names...) {
			if word == l.AID || word == strings.ToLower(l.Name) {
				out = append(out, l)
				break
			}
		}
	}
	return out, nil
}

func (t town) Exposure(context.Context) (Exposure, error) {
	return Exposure{Federated: 1, Registered: 3}, nil
}

func scoutOf(net Net, on shelf, here town) Scout {
	return Scout{Vetter: vetter(), Records: on, Here: here, Net: net, Room: plenty}
}

func TestOutlook(t *testing.T) {
	fresh, member, namesake := directorytest.NewNode(t, now), directorytest.NewNode(t, now), directorytest.NewNode(t, now)
	broken := told(fresh, 1, "a")
	other := directorytest.NewNode(t, now)
	broken.KEL = other.Key.KEL()
	named := told(namesake, 1, "text.digest")
	named.Card = namesake.Card(1, now, "Lab Printer", "text.digest")
	net := stand{
		"/fed/v2/cards":   once(pageOf(t, told(fresh, 1, "text.digest"), told(member, 1, "a"), named, broken)),
		"/fed/v1/cards":   once(pageOf(t, older(fresh, 1))),
		"/fed/v1/reviews": func(string) (int, []byte, error) { return 403, nil, nil },
	}
	here := town{{member.AID(), "our own"}, {"bafy-printer", "lab printer"}}
	o, err := scoutOf(net, shelf{member.AID(): {Registered: true}}, here).Look(t.Context(), peers.Peer{Endpoint: peerHome, Discovery: true})
	if err != nil {
		t.Fatal(err)
	}
	if o.Federated != 1 || o.Registered != 3 {
		t.Errorf("it exposes %+v", o.Exposure)
	}
	want := []string{
		fresh.AID() + " taken an agent text.digest",
		member.AID() + " held our own registered_here",
		namesake.AID() + " taken Lab Printer text.digest namesake bafy-printer",
		other.AID() + " refused  binding_mismatch",
	}
	for i, a := range o.Agents {
		got := strings.TrimSpace(a.AID + " " + a.Step.String() + " " + a.Name + " " + strings.Join(a.Skills, ",") + a.Reason)
		if a.Namesake != "" {
			got += " namesake " + a.Namesake
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("agent %d is %q", i, got)
		}
	}
	if len(o.Agents) != len(want) {
		t.Errorf("%d agents, want %d", len(o.Agents), len(want))
	}
	sights := ""
	for _, s := range o.Streams {
		sights += fmt.Sprintf("%s %d %v %s; ", s.Stream, s.Entries, s.More, s.Code)
	}
	if sights != "cards 4 false ; adp-cards 1 false ; reviews 0 false stream_closed; " {
		t.Errorf("streams: %s", sights)
	}
}

// What a peer does is part of the outlook, and it is looked at for a while only.
func TestOutlookOfAPeerThatBehavesBadly(t *testing.T) {
	pages := 0
	net := stand{
		"/fed/v2/cards": func(cursor string) (int, []byte, error) {
			pages++
			return 200, []byte(fmt.Sprintf(`{"cursor":1%s,"cards":[5]}`, cursor)), nil
		},
		"/fed/v1/cards":   func(string) (int, []byte, error) { return 200, []byte(`<html>`), nil },
		"/fed/v1/reviews": func(string) (int, []byte, error) { return 0, nil, errors.New("gone") },
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o, err := scoutOf(net, shelf{}, nil).Look(ctx, peers.Peer{Endpoint: peerHome, Discovery: true})
	if err != nil || pages != scoutPages || len(o.Streams) != 3 || !o.Streams[0].More || o.Streams[1].Code != "page_malformed" || o.Streams[2].Code == "" {
		t.Errorf("after %d pages: %+v, %v", pages, o.Streams, err)
	}
}

func TestOutlookWithoutDiscovery(t *testing.T) {
	o, err := scoutOf(stand{}, shelf{}, nil).Look(t.Context(), peers.Peer{Endpoint: peerHome, Delivery: true})
	if err != nil || len(o.Streams) != 0 || o.Registered != 3 {
		t.Errorf("%+v, %v", o, err)
	}
}
