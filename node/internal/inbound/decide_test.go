package inbound

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/task"
)

// Checklist 61: the order of L.1, and a denial that cannot be seen.
func TestDecide(t *testing.T) {
	const closed, open = config.Closed, config.Open
	for _, tt := range []struct {
		name   string
		r      Request
		refuse task.Reason
		trust  journal.Trust
	}{
		{"a stranger's text, closed", Request{Policy: closed}, task.NotAccepting, ""},
		{"a stranger's call, closed", Request{Policy: closed, Call: true}, task.NotAccepting, ""},
		{"a denied peer's text, closed, hears the same", Request{Policy: closed, Denied: true}, task.NotAccepting, ""},
		{"a denied peer's call, closed, hears the same", Request{Policy: closed, Denied: true, Call: true}, task.NotAccepting, ""},
		{"denied beats public", Request{Policy: closed, Denied: true, Call: true, Public: true}, task.NotAccepting, ""},
		{"denied beats listed", Request{Policy: open, Denied: true, Listed: true}, task.Denied, ""},
		{"a denied peer, open", Request{Policy: open, Denied: true}, task.Denied, ""},
		{"a stranger's public call, closed", Request{Policy: closed, Call: true, Public: true}, "", journal.TrustPublicCap},
		{"a public call of a listed peer is admitted like any", Request{Policy: closed, Listed: true, Call: true, Public: true}, "", journal.TrustPublicCap},
		{"a listed peer's text", Request{Policy: closed, Listed: true}, "", journal.TrustPeer},
		{"a listed peer's private call", Request{Policy: closed, Listed: true, Call: true}, "", journal.TrustPeer},
		{"a stranger's text, open", Request{Policy: open}, "", journal.TrustPublic},
		{"a stranger's private call, open", Request{Policy: open, Call: true}, task.CapabilityNotPublic, ""},
		{"a policy nobody knows is closed", Request{Policy: "opne"}, task.NotAccepting, ""},
	} {
		got := Decide(tt.r)
		if got.Refuse != tt.refuse || got.Trust != tt.trust {
			t.Errorf("%s: Decide = %q, trust %q; want %q, trust %q", tt.name, got.Refuse, got.Trust, tt.refuse, tt.trust)
		}
	}
}

// Checklist 64 and section L.5: what may be said in a task, and by whom.
func TestDecideTurn(t *testing.T) {
	held := func(trust journal.Trust, kind string) Turn {
		return Turn{Known: true, SamePeer: true, Role: journal.Provider, Trust: trust, Kind: kind}
	}
	with := func(t Turn, change func(*Turn)) Turn { change(&t); return t }
	for _, tt := range []struct {
		name string
		turn Turn
		want Action
	}{
		{"a listed peer's text", with(held(journal.TrustPeer, "text"), func(t *Turn) { t.Listed = true }), Take},
		{"a peer no longer listed", held(journal.TrustPeer, "text"), DropAllowed},
		{"a stranger's text under open", held(journal.TrustPublic, "text"), Take},
		{"text within a public call", held(journal.TrustPublicCap, "text"), DropPublic},
		{"a payment within a public call", with(held(journal.TrustPublicCap, "text"), func(t *Turn) { t.Payment = "payment-submitted" }), Take},
		{"a declined payment", with(held(journal.TrustPublicCap, "text"), func(t *Turn) { t.Payment = "payment-rejected" }), Take},
		{"a payment status of the other side", with(held(journal.TrustPublicCap, "text"), func(t *Turn) { t.Payment = "payment-completed" }), DropPublic},
		{"cancel within a public call", held(journal.TrustPublicCap, "cancel"), Take},
		{"the end asked for", held(journal.TrustPublicCap, "end_request"), Take},
		{"a denied peer", with(held(journal.TrustPublic, "text"), func(t *Turn) { t.Denied = true }), DropDenied},
		{"another peer", with(held(journal.TrustPublic, "text"), func(t *Turn) { t.SamePeer = false }), DropPeer},
		{"text after the end", with(held(journal.TrustPublic, "text"), func(t *Turn) { t.Ended = true }), DropEnded},
		{"cancel after the end", with(held(journal.TrustPublic, "cancel"), func(t *Turn) { t.Ended = true }), DropEnded},
		{"a provider's text", Turn{Known: true, SamePeer: true, Role: journal.Requester, Kind: "text"}, Take},
		{"a provider's cancel", Turn{Known: true, SamePeer: true, Role: journal.Requester, Kind: "cancel"}, DropKind},
		{"a provider's end request", Turn{Known: true, SamePeer: true, Role: journal.Requester, Kind: "end_request"}, DropKind},
		{"a preview", held(journal.TrustPublic, "stream_preview"), DropKind},
		{"the leftover of wire 1", held(journal.TrustPublic, "end_accept"), DropKind},

		{"unknown task, stranger", Turn{Kind: "text"}, NotFound},
		{"unknown task, related", Turn{Kind: "text", Related: true}, WaitForTask},
		{"unknown task, related, old", Turn{Kind: "text", Related: true, Age: WaitWindow}, NotFound},
		{"unknown task, related, many wait", Turn{Kind: "text", Related: true, Waiting: WaitPerSender}, NotFound},
		{"unknown task, denied, hears the same", Turn{Kind: "text", Denied: true, Related: true}, NotFound},
		{"cancel before its task", Turn{Kind: "cancel"}, TakeCancel},
		{"cancel before its task, denied", Turn{Kind: "cancel", Denied: true}, DropDenied},
	} {
		if got := DecideTurn(tt.turn); got != tt.want {
			t.Errorf("%s: DecideTurn = %s, want %s", tt.name, got, tt.want)
		}
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Checklist 62: the order of the limits, their windows and their hints.
func TestAdmission(t *testing.T) {
	limit := config.PublicCapability{
		ID: "text.digest", PerCallerPerMin: 3, PerCallerPerDay: 5, GlobalPerMin: 6,
		MaxInflight: 2, PerCallerInflight: 1, MaxArgsBytes: 10,
	}
	type call struct {
		caller string
		cap    string
		bytes  int
		at     time.Duration
		hold   bool // stays at work
		reason task.Reason
		retry  time.Duration
	}
	const id = "text.digest"
	for _, tt := range []struct {
		name  string
		calls []call
	}{
		{"not public", []call{{"a", "text.other", 0, 0, false, task.CapabilityNotPublic, 0}}},
		{"a public parent opens nothing below it", []call{{"a", "text.digest.fast", 0, 0, false, task.CapabilityNotPublic, 0}}},
		{"arguments at the limit and above", []call{{"a", id, 10, 0, false, "", 0}, {"a", id, 11, 0, false, task.ArgsTooLarge, 0}}},
		{"too large is said before too busy", []call{{"a", id, 0, 0, true, "", 0}, {"a", id, 11, 0, false, task.ArgsTooLarge, 0}}},
		{"one at a time per caller", []call{{"a", id, 0, 0, true, "", 0}, {"a", id, 0, 0, false, task.MaxInflight, time.Second}, {"b", id, 0, 0, false, "", 0}}},
		{"two at a time in all", []call{{"a", id, 0, 0, true, "", 0}, {"b", id, 0, 0, true, "", 0}, {"c", id, 0, 0, false, task.MaxInflight, time.Second}}},
		{"per caller and minute", []call{
			{"a", id, 0, 15 * time.Second, false, "", 0}, {"a", id, 0, 15 * time.Second, false, "", 0}, {"a", id, 0, 15 * time.Second, false, "", 0},
			{"a", id, 0, 15 * time.Second, false, task.QuotaCallerMinute, 45 * time.Second},
			{"a", id, 0, 59*time.Second + 999*time.Millisecond, false, task.QuotaCallerMinute, time.Millisecond},
			{"a", id, 0, time.Minute, false, "", 0},
		}},
		{"a refused call uses nothing up", []call{
			{"a", id, 11, 0, false, task.ArgsTooLarge, 0}, {"a", id, 11, 0, false, task.ArgsTooLarge, 0}, {"a", id, 11, 0, false, task.ArgsTooLarge, 0},
			{"a", id, 0, 0, false, "", 0}, {"a", id, 0, 0, false, "", 0}, {"a", id, 0, 0, false, "", 0},
			{"a", id, 0, 0, false, task.QuotaCallerMinute, time.Minute}, {"a", id, 0, 0, false, task.QuotaCallerMinute, time.Minute},
			{"a", id, 0, time.Minute, false, "", 0}, {"a", id, 0, time.Minute, false, "", 0},
			{"a", id, 0, time.Minute, false, task.QuotaCallerDay, 12*time.Hour - time.Minute},
		}},
		{"all callers per minute", []call{
			{"a", id, 0, 0, false, "", 0}, {"a", id, 0, 0, false, "", 0}, {"b", id, 0, 0, false, "", 0},
			{"b", id, 0, 0, false, "", 0}, {"c", id, 0, 0, false, "", 0}, {"d", id, 0, 0, false, "", 0},
			{"e", id, 0, 30 * time.Second, false, task.QuotaGlobalMinute, 30 * time.Second},
		}},
	} {
		a := NewAdmission([]config.PublicCapability{limit})
		for i, c := range tt.calls {
			release, refusal := a.Admit(c.cap, c.caller, c.bytes, noon.Add(c.at), nil)
			got := Refusal{}
			if refusal != nil {
				got = *refusal
			}
			if got.Reason != c.reason || got.RetryAfter != c.retry {
				t.Errorf("%s: call %d = %q after %v, want %q after %v", tt.name, i+1, got.Reason, got.RetryAfter, c.reason, c.retry)
			}
			if release != nil && !c.hold {
				release()
			}
		}
	}
}

func TestReleaseCountsOnce(t *testing.T) {
	a := NewAdmission([]config.PublicCapability{config.DefaultPublic("x")})
	first, _ := a.Admit("x", "a", 0, noon, nil)
	first()
	second, _ := a.Admit("x", "a", 0, noon, nil)
	first()
	if _, refusal := a.Admit("x", "a", 0, noon, nil); refusal == nil {
		t.Error("releasing a call twice freed the place of another one")
	}
	second()
	if len(a.inflight)+len(a.byCaller) != 0 {
		t.Errorf("after the last call %v and %v are left, want nothing", a.inflight, a.byCaller)
	}
}

func TestCountersAreBounded(t *testing.T) {
	w := newWindows(time.Minute, 2)
	for _, key := range []string{"a", "b", "a", "c"} {
		w.add(key, noon)
	}
	for key, want := range map[string]int{"a": 2, "b": 0, "c": 1} {
		if got := w.count(key, noon); got != want {
			t.Errorf("count(%s) = %d, want %d: the one counted longest ago makes way", key, got, want)
		}
	}
}

// Checklist 63: notices within their limits, silence beyond.
func TestNotices(t *testing.T) {
	n := NewNotices()
	told := func(peer string, at time.Duration, tries int) (allowed int) {
		for range tries {
			if n.Allow(peer, noon.Add(at)) {
				allowed++
			}
		}
		return allowed
	}
	if got := told("a", 0, 20); got != noticesPerPeer {
		t.Errorf("one peer in one hour was told %d times, want %d", got, noticesPerPeer)
	}
	if got := told("a", time.Hour, 20); got != noticesPerPeer {
		t.Errorf("one peer in the next hour was told %d times, want %d", got, noticesPerPeer)
	}
	all := 0
	for i := range 100 {
		all += told(string(rune('A'+i)), 2*time.Hour, 6)
	}
	if all != noticesPerMinute {
		t.Errorf("all peers in one minute were told %d times, want %d", all, noticesPerMinute)
	}
}

// Checklist 66: two resends at once, then one in five minutes.
func TestResends(t *testing.T) {
	r := NewResends()
	for _, tt := range []struct {
		peer, task string
		at         time.Duration
		want       bool
	}{
		{"a", "ix_1", 0, true},
		{"a", "ix_1", 0, true},
		{"a", "ix_1", 0, false},
		{"a", "ix_2", 0, true},
		{"b", "ix_1", 0, true},
		{"a", "ix_1", resendEvery - time.Second, false},
		{"a", "ix_1", resendEvery, true},
		{"a", "ix_1", resendEvery, false},
	} {
		if got := r.Allow(tt.peer, tt.task, noon.Add(tt.at)); got != tt.want {
			t.Errorf("%s asks for %s after %v: %v, want %v", tt.peer, tt.task, tt.at, got, tt.want)
		}
	}
	all := 0
	for i := range 200 {
		if r.Allow("c", string(rune('A'+i)), noon.Add(time.Hour)) {
			all++
		}
	}
	if all != resendPerMinute {
		t.Errorf("%d answers were sent again in one minute, want %d", all, resendPerMinute)
	}
}
