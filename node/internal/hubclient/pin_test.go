package hubclient

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func rotated(t *testing.T, c *identity.Controller) *identity.Controller {
	t.Helper()
	next, err := c.Rotate(rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func shown(c *identity.Controller) wire.Identity { return wire.Identity{AID: c.AID(), KEL: c.KEL()} }

func pinned(c *identity.Controller) Pin { return Pin{URL: "https://h", AID: c.AID(), KEL: c.KEL()} }

func TestOnlyTheHubThatWasJoinedIsAccepted(t *testing.T) {
	hub, other := controller(t), controller(t)
	later, forked := rotated(t, hub), rotated(t, hub)
	ended, err := hub.Deactivate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		pin    Pin
		shows  wire.Identity
		want   []byte // the history kept from now on
		reason string
	}{
		{"first meeting", Pin{URL: "https://h"}, shown(hub), hub.KEL(), ""},
		{"the same", pinned(hub), shown(hub), hub.KEL(), ""},
		{"it has rotated", pinned(hub), shown(later), later.KEL(), ""},
		{"it has gone back", pinned(later), shown(hub), nil, "hub_history_shorter"},
		{"it has forked", pinned(later), shown(forked), nil, "hub_history_forked"},
		{"another hub", pinned(hub), shown(other), nil, "hub_identity_changed"},
		{"another's name", pinned(hub), wire.Identity{AID: hub.AID(), KEL: other.KEL()}, nil, "hub_identity_invalid"},
		{"no history", Pin{URL: "https://h"}, wire.Identity{AID: hub.AID()}, nil, "hub_identity_invalid"},
		{"given up", pinned(hub), wire.Identity{AID: hub.AID(), KEL: ended}, nil, "hub_identity_ended"},
	}
	for _, tt := range tests {
		got, err := tt.pin.Accept(tt.shows)
		if tt.reason != "" {
			if !errs.Is(err, tt.reason) {
				t.Errorf("%s: Accept = %v, want %s", tt.name, err, tt.reason)
			}
		} else if err != nil || string(got.KEL) != string(tt.want) || got.AID != hub.AID() {
			t.Errorf("%s: Accept = %+v, %v", tt.name, got, err)
		}
	}
}

// What a hub says of where it is reached goes to disk and into cards.
func TestOnlyAPlaceIsKeptAsAHubsAddress(t *testing.T) {
	hub := controller(t)
	for said, want := range map[string]string{
		"":                                "",
		"https://hub.example.org/":        "https://hub.example.org",
		"http://hub.example.org:8088/net": "http://hub.example.org:8088/net",
		"javascript:alert(1)":             "",
		"ftp://hub.example.org":           "",
		"https://you@hub.example.org":     "",
		"https://hub.example.org/?q=1":    "",
		"https://hub.example.org/" + strings.Repeat("a", maxPublicURL): "",
	} {
		got, err := Pin{URL: "https://h"}.Accept(wire.Identity{AID: hub.AID(), KEL: hub.KEL(), PublicURL: said})
		if err != nil || got.PublicURL != want {
			t.Errorf("of %.60q is kept %q, %v; want %q", said, got.PublicURL, err, want)
		}
	}
}

func TestMeetWantsAHubOfThisWire(t *testing.T) {
	tests := []struct {
		name, wire string
		status     int
		reason     string
	}{
		{"this wire", "2", 200, ""},
		{"a newer wire", "3", 200, ""},
		{"an older wire", "1", 200, WireTooOld},
		{"no header", "", 200, WireTooOld},
		{"nonsense", "two", 200, WireTooOld},
		{"a broken proxy says nothing about the wire", "", 502, "hub_bad_gateway"},
	}
	for _, tt := range tests {
		hub := newHub(t, says(tt.status, `{"status":"ok"}`))
		hub.wire = tt.wire
		pin, err := Meet(t.Context(), Options{Hub: Pin{URL: hub.URL + "/"}})
		if tt.reason != "" {
			if !errs.Is(err, tt.reason) {
				t.Errorf("%s: Meet = %v, want %s", tt.name, err, tt.reason)
			}
		} else if err != nil || pin.AID != hub.key.AID() || pin.URL != hub.URL {
			t.Errorf("%s: Meet = %+v, %v", tt.name, pin, err)
		}
	}
}

func TestMeetTellsAnotherHubFromTheOneJoined(t *testing.T) {
	hub := newHub(t, says(200, `{}`))
	pin := pinned(controller(t))
	pin.URL = hub.URL
	if _, err := Meet(t.Context(), Options{Hub: pin}); !errs.Is(err, "hub_identity_changed") {
		t.Errorf("Meet = %v", err)
	}
	if len(hub.requests) != 0 {
		t.Errorf("a hub that is not ours was asked more than its name: %+v", hub.requests)
	}
}

func TestThePinIsKept(t *testing.T) {
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := LoadPin(dir); ok || err != nil {
		t.Errorf("without a file: %v, %v", ok, err)
	}
	want := pinned(controller(t))
	want.AllowHTTP = true
	if want.Shown() != want.URL {
		t.Errorf("Shown = %s", want.Shown())
	}
	want.PublicURL = "https://hub.example.org"
	if err := want.Store(dir); err != nil {
		t.Fatal(err)
	}
	got, ok, err := LoadPin(dir)
	if err != nil || !ok || got.AID != want.AID || got.URL != want.URL || !got.AllowHTTP || got.Shown() != want.PublicURL || string(got.KEL) != string(want.KEL) {
		t.Errorf("LoadPin = %+v, %v, %v", got, ok, err)
	}
	if err := dir.Write(pinFile, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadPin(dir); err == nil {
		t.Error("a broken pin is taken for none")
	}
}
