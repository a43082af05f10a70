package app

import (
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// peer is another hub, at an address where nobody answers.
func (v *visitor) peer(name string, proven bool) *directorytest.Node {
	v.t.Helper()
	n := v.agent()
	args := pgx.NamedArgs{"aid": n.AID(), "name": name, "endpoint": "http://127.0.0.1:1/" + name, "now": time.Now(), "kel": nil, "proved": nil}
	if proven {
		args["kel"], args["proved"] = n.Key.KEL(), time.Now()
	}
	conn, err := pgx.Connect(v.t.Context(), v.url)
	if err == nil {
		defer conn.Close(v.t.Context())
		_, err = conn.Exec(v.t.Context(), `
			INSERT INTO peer (position, aid, endpoint, name, delivery, discovery, kel, added_at, proved_at, next_try_at)
			VALUES (1, @aid, @endpoint, @name, true, false, @kel, @now, @proved, 'infinity')`, args)
	}
	if err != nil {
		v.t.Fatal(err)
	}
	return n
}

// brought is a forward of a message as a peer signs it, with something changed
// before.
func (v *visitor) brought(from, to *directorytest.Node, change func(*wire.Forward)) string {
	f := forward.Sign(from.Key, to.AID(), letter(to, to, 10+int(v.now()%1000)).Envelope, time.Now())
	if change(&f); f.Sig != nil {
		f.Sig = from.Key.Sign(forward.Preimage(f))
	}
	return text(f)
}

// between is what other hubs ask for, and what is asked of them.
func between(v *visitor) {
	v.visit(func(c *Config) {
		c.Envelope, c.MailMessages, c.Memory, c.PollBudget = 4<<10, 3, 16<<20, 1<<20
		c.KeysLookupRate, c.KeysLookupBurst = 0.01, 3
	})
	to, full, stranger := v.joined("alice"), v.joined("bob"), v.agent()
	v.call("200", to, "/agents/"+to.AID()+"/keys", wire.Keyset{Keyset: to.Keyset(time.Now(), false)})
	v.post("403 POLICY_REFUSED", "/fed/v1/forward", v.brought(stranger, to, func(*wire.Forward) {}))
	b, late := v.peer("b", true), v.peer("late", false)
	testkit.Until(v.t, "the table of peers was read", func() bool {
		return v.do(v.opened(http.MethodPost, "/fed/v1/forward", "{")).status != http.StatusForbidden
	})
	for range 3 {
		v.call("200", to, "/relay/send", letter(full, full, 10))
	}
	for _, path := range streams {
		v.get("403 POLICY_REFUSED", path)
	}
	v.bring(b, late, to, full)
	v.askKeys(b, late, to)
	v.call("502 peers_failed", to, "/relay/send", letter(stranger, stranger, 10))
	path, lookup := "/agents/"+stranger.AID()+"/keys", text(wire.Lookup{AID: stranger.AID()})
	v.get("502 peers_failed", path)
	v.until("429 keys_lookup_rate", func() *http.Request { return v.local(http.MethodGet, path, "") })
	v.until("429 keys_lookup_rate", func() *http.Request { return v.local(http.MethodPost, "/agents/keys:lookup", lookup) })
}

// local makes a request that comes from one and the same address each time.
func (v *visitor) local(method, target, body string) *http.Request {
	r := v.opened(method, target, body)
	r.Header.Set("X-Real-IP", "203.0.113.3")
	return r
}

func (v *visitor) bring(b, late, to, full *directorytest.Node) {
	v.t.Helper()
	same := v.brought(b, to, func(*wire.Forward) {})
	v.post("202", "/fed/v1/forward", same)
	v.post("200", "/fed/v1/forward", same)
	for _, c := range []struct {
		want   string
		from   *directorytest.Node
		to     *directorytest.Node
		change func(*wire.Forward)
	}{
		{"400 VERSION_UNSUPPORTED", b, to, func(f *wire.Forward) { f.V = 1 }},
		{"403 POLICY_REFUSED", v.agent(), to, func(*wire.Forward) {}},
		{"400 HOP_EXCEEDED", b, to, func(f *wire.Forward) { f.Hop = 4 }},
		{"400 MALFORMED", b, to, func(f *wire.Forward) { f.PayloadCID = "x" }},
		{"413 TOO_LARGE", b, to, func(f *wire.Forward) { f.Payload = make([]byte, 5<<10) }},
		{"502 POLICY_REFUSED", late, to, func(*wire.Forward) {}},
		{"401 INVALID_SIGNATURE", b, to, func(f *wire.Forward) { f.Sig = nil }},
		{"404 UNKNOWN_DESTINATION", b, v.agent(), func(*wire.Forward) {}},
		{"507 MAILBOX_FULL", b, full, func(*wire.Forward) {}},
	} {
		v.post(c.want, "/fed/v1/forward", v.brought(c.from, c.to, c.change))
	}
	v.post("413 TOO_LARGE", "/fed/v1/forward", strings.Repeat(" ", 1<<20))
}

func (v *visitor) askKeys(b, late, to *directorytest.Node) {
	v.t.Helper()
	keys := "/fed/v2/keys/"
	v.get("401 AUTH_REQUIRED", keys+to.AID())
	v.call("403 POLICY_REFUSED", v.agent(), keys+to.AID(), "")
	v.call("502 POLICY_REFUSED", late, keys+to.AID(), "")
	v.call("200", b, keys+to.AID(), "")
	v.call("404 NOT_FOUND", b, keys+v.agent().AID(), "")
	for _, bad := range badPaths {
		v.call("404 NOT_FOUND", b, keys+bad.aid, "")
	}
	old := v.opened(http.MethodGet, keys+to.AID(), "")
	v.sign(b, old, "", v.now()-400_000)
	v.expect("401 INVALID_SIGNATURE", old)
	once, again := v.signed(b, keys+to.AID(), ""), v.opened(http.MethodGet, keys+to.AID(), "")
	again.Header = once.Header.Clone()
	v.expect("200", once)
	v.expect("401 REPLAYED", again)
}
