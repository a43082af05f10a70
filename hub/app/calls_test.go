package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/wire"
)

func askHub(v *visitor) {
	for _, target := range []string{"/healthz", "/metrics", "/hub/identity", "/stats"} {
		v.get("200", target)
	}
	for _, target := range []string{"/openapi.yaml", "/limits", "/llms.txt"} {
		v.tagged(v.opened(http.MethodGet, target, ""))
	}
	v.ready()
	v.call("200", v.operator, "/hub/probe", "{}"+strings.Repeat(" ", 64<<10))
	v.call("401 not_the_owner", v.joined("alice"), "/hub/probe", "")
	v.post("401 bad_auth_headers", "/hub/probe", "")
	v.call("413 body_too_large", v.operator, "/hub/probe", strings.Repeat(" ", 2<<20))
	v.seen.add("general", v.get("404 no_such_route", "/guest/x"))
	v.seen.add("general", v.post("405 method_not_allowed", "/stats", ""))
}

func register(v *visitor) {
	n, now := v.agent(), time.Now()
	body := n.Register("alice", "text.digest", "x*")
	body.A2ACard, body.Card, body.EncKeys = n.Card(1, now, "alice", "text.digest"), n.ADPCard(1, now), n.Keyset(now, false)
	v.call("200", n, "/register", body)
	for _, c := range []struct {
		want   string
		change func(*wire.Register)
	}{
		{"200", func(r *wire.Register) { r.A2ACard = wire.RawJSON("null") }},
		{"400 aid_missing", func(r *wire.Register) { r.AID = "" }},
		{"400 aid_malformed", func(r *wire.Register) { r.AID = "x" }},
		{"400 kel_missing", func(r *wire.Register) { r.KEL = nil }},
		{"400 kel_too_large", func(r *wire.Register) { r.KEL = make([]byte, 65_537) }},
		{"400 kel_invalid", func(r *wire.Register) { r.KEL = []byte("x") }},
		{"400 too_many_caps", func(r *wire.Register) { r.Caps = make([]string, 257) }},
		{"400 too_long", func(r *wire.Register) { r.Name = strings.Repeat("a", 129) }},
		{"400 zero_byte", func(r *wire.Register) { r.Name = "\x00" }},
		{"400 card_refused", func(r *wire.Register) { r.Card = wire.RawJSON("{}") }},
		{"401 not_the_owner", func(r *wire.Register) { r.AID = v.hub }},
		{"413 body_too_large", func(r *wire.Register) { r.Readme = strings.Repeat("a", 2<<20) }},
	} {
		n := v.agent()
		body := n.Register("bob", "text.digest")
		c.change(&body)
		v.call(c.want, n, "/register", body)
	}
	v.call("400 malformed_json", n, "/register", "null")
	v.rollBack()
}

// rollBack registers with histories that contradict the one on record.
func (v *visitor) rollBack() {
	v.t.Helper()
	n := v.agent()
	short, fork := *n, *n
	n.Rotate(time.Now())
	fork.Rotate(time.Now())
	v.call("200", n, "/register", n.Register("alice"))
	v.call("409 kel_rollback", &short, "/register", short.Register("alice"))
	v.call("409 kel_forked", &fork, "/register", fork.Register("alice"))
}

// say is what a registered agent may change.
func say(v *visitor) {
	n, other, stranger := v.joined("alice"), v.joined("bob"), v.agent()
	own := "/agents/" + n.AID()
	v.call("200", n, "/profile", wire.Profile{AID: n.AID(), Summary: "s"})
	v.call("401 not_the_owner", n, "/profile", wire.Profile{AID: other.AID()})
	v.call("200", n, own+"/why", "")
	v.call("400 cap_invalid", n, own+"/why?cap=text.*", "")
	v.call("400 query_malformed", n, own+"/why?cap=%zz", "")
	v.call("200", n, own+"/visibility", wire.Visibility{Visibility: "public"})
	v.call("400 visibility_unknown", n, own+"/visibility", wire.Visibility{Visibility: "secret"})
	v.call("404 agent_unknown", stranger, "/agents/"+stranger.AID()+"/visibility", wire.Visibility{Visibility: "public"})
	v.call("200", n, own+"/p2p", wire.P2P{Addr: "tcp://192.0.2.7:4000"})
	v.get("200", own+"/p2p")
	v.get("404 address_unknown", "/agents/"+other.AID()+"/p2p")
	v.get("200", "/p2p/peers")
	v.call("200", n, own+"/p2p", wire.P2P{})
	for _, target := range []string{"/profile", own + "/visibility", own + "/p2p"} {
		v.call("400 malformed_json", n, target, "[]")
	}
	for _, code := range []struct{ want, text string }{{"400 too_long", strings.Repeat("a", 20<<10)}, {"400 zero_byte", "\x00"}} {
		v.call(code.want, n, "/profile", wire.Profile{Readme: code.text})
		v.call(code.want, n, own+"/p2p", wire.P2P{Addr: code.text})
	}
	for _, bad := range badPaths {
		v.call(bad.want, n, "/agents/"+bad.aid+"/visibility", wire.Visibility{Visibility: "public"})
	}
	v.call("401 not_the_owner", n, "/agents/"+other.AID()+"/deregister", "{}")
	v.call("401 not_the_owner", n, "/agents/"+other.AID()+"/why", "")
	v.call("200", other, "/relay/send", letter(n, n, 1))
	v.call("200", n, own+"/deregister", "{}")
	v.get("200", own)
}

// badPaths are what stands in a path for an AID and can't be a text.
var badPaths = []struct{ want, aid string }{
	{"400 zero_byte", "a%00b"}, {"400 bad_utf8", "%ff"}, {"400 too_long", strings.Repeat("a", 257)},
}

func find(v *visitor) {
	alice := v.joined("alice")
	v.joined("bob")
	for _, query := range []string{"", "?q=ALI", "?cap=text.*", "?cap=nobody.serves.this", "?cap=text.digest&limit=1"} {
		v.get("200", "/agents"+query)
		v.get("200", "/"+query)
	}
	v.get("200", "/graph?limit=1")
	v.get("200", "/a2a/v1/agents?skill=text.digest&limit=1")
	for _, c := range []struct{ want, target string }{
		{"400 query_malformed", "/agents?q=%zz"},
		{"400 query_malformed", "/graph?limit=%zz"},
		{"400 query_malformed", "/a2a/v1/agents?q=%zz"},
		{"400 limit_invalid", "/agents?limit=0"},
		{"400 limit_invalid", "/graph?limit=x"},
		{"400 limit_invalid", "/a2a/v1/agents?limit="},
		{"400 cursor_invalid", "/agents?cursor=x"},
		{"400 cursor_invalid", "/graph?cursor=x"},
		{"400 query_malformed", "/agents/x?limit=%zz"},
		{"400 limit_invalid", "/agents/x?limit=0"},
		{"400 cursor_invalid", "/agents/" + alice.AID() + "?cursor=x"},
		{"400 cursor_invalid", "/a2a/v1/agents?cursor=x"},
		{"400 capability_query_empty", "/agents?cap="},
		{"400 capability_query_too_long", "/agents?cap=" + strings.Repeat("a,", 65)},
		{"400 capability_query_wildcard", "/agents?cap=a*b"},
		{"400 capability_query_term", "/agents?cap=a%00"},
		{"400 skill_empty", "/a2a/v1/agents?skill="},
		{"400 tag_empty", "/a2a/v1/agents?tag="},
	} {
		v.get(c.want, c.target)
		if query, ok := strings.CutPrefix(c.target, "/agents?"); ok {
			v.get(c.want, "/?"+query)
		}
	}
	for _, bad := range badPaths {
		v.get(bad.want, "/agents?q="+bad.aid)
		v.get(bad.want, "/?q="+bad.aid)
		v.get(bad.want, "/a2a/v1/agents?q="+bad.aid)
	}
}

// prove is about everything that is looked up of one agent.
func prove(v *visitor) {
	n, bare, now := v.agent(), v.joined("bare"), time.Now()
	body := n.Register("alice", "text.digest")
	body.A2ACard, body.Card = n.Card(1, now, "alice", "text.digest"), n.ADPCard(1, now)
	v.call("200", n, "/register", body)
	v.publish(n)
	v.get("200", "/agents/"+v.hub+"/kel")
	for _, c := range []struct{ path, post, missing string }{
		{"/agents/%s", "", "404 agent_unknown"},
		{"/agents/%s/kel", "/agents/kel:lookup", "404 agent_unknown"},
		{"/agents/%s/keys", "/agents/keys:lookup", "404 keys_unknown"},
		{"/agents/%s/jwks.json", "", "404 agent_unknown"},
		{"/agents/%s/card", "", "404 card_unknown"},
		{"/agents/%s/p2p", "", "404 address_unknown"},
		{"/agents/%s/reputation", "/agents/reputation:lookup", "200"},
		{"/a2a/v1/agents/%s/card", "/a2a/v1/agents/card:lookup", "404 card_unknown"},
	} {
		v.look(c.path, n, c.missing)
		for _, bad := range badPaths {
			v.get(bad.want, fmt.Sprintf(c.path, bad.aid))
		}
		if c.post != "" {
			v.post("200", c.post, wire.Lookup{AID: n.AID()})
			v.post(c.missing, c.post, wire.Lookup{AID: v.agent().AID()})
			v.post("400 aid_missing", c.post, wire.Lookup{})
			v.post("400 malformed_json", c.post, "null")
			v.post("413 body_too_large", c.post, strings.Repeat(" ", 5000))
		}
	}
	v.tagged(v.opened(http.MethodPost, "/a2a/v1/agents/card:lookup", text(wire.Lookup{AID: n.AID()})))
	v.get("404 keys_unknown", "/agents/"+bare.AID()+"/keys")
}

// look asks for what there is, again with its tag where it has one, and for
// what there is not.
func (v *visitor) look(path string, n *directorytest.Node, missing string) {
	v.t.Helper()
	target := fmt.Sprintf(path, n.AID())
	if strings.Contains(path, "card") || strings.Contains(path, "jwks") {
		v.tagged(v.opened(http.MethodGet, target, ""))
	} else if !strings.HasSuffix(path, "p2p") {
		v.get("200", target)
	}
	v.get(missing, fmt.Sprintf(path, v.agent().AID()))
}

// publish publishes key sets, good ones and others.
func (v *visitor) publish(n *directorytest.Node) {
	v.t.Helper()
	keys, twin := "/agents/"+n.AID()+"/keys", *n
	twin.Ring = v.agent().Ring
	now := time.Now()
	first, second := n.Keyset(now, false), n.Keyset(now.Add(time.Second), true)
	for _, c := range []struct {
		want string
		set  []byte
	}{
		{"200", first}, {"200", second}, {"400 keyset_missing", nil}, {"400 keys_invalid", []byte("x")},
		{"409 keys_rollback", first}, {"409 keys_fork", twin.Keyset(now.Add(time.Second), false)},
	} {
		v.call(c.want, n, keys, wire.Keyset{Keyset: c.set})
	}
	v.call("400 malformed_json", n, keys, "null")
}

func mail(v *visitor) {
	n, to := v.joined("alice"), v.joined("bob")
	v.call("200", n, "/relay/send", letter(to, to, 10))
	v.call("200", to, "/relay/poll", "")
	v.call("200", to, "/relay/poll", `{"limit": 1, "wait_ms": 1}`)
	v.call("200", to, "/relay/ack", `{"ids": [1]}`)
	for _, c := range []struct {
		want, target string
		body         any
	}{
		{"400 malformed_json", "/relay/send", "null"},
		{"400 missing_field", "/relay/send", "{}"},
		{"400 zero_byte", "/relay/send", `{"to_aid": "a\u0000", "envelope": "AA=="}`},
		{"400 bad_envelope", "/relay/send", wire.Send{ToAID: to.AID(), Envelope: []byte("x")}},
		{"400 recipient_mismatch", "/relay/send", letter(to, n, 10)},
		{"404 unknown_recipient", "/relay/send", func() wire.Send { s := v.agent(); return letter(s, s, 10) }()},
		{"413 envelope_too_large", "/relay/send", letter(to, to, 64<<10)},
		{"413 body_too_large", "/relay/send", strings.Repeat(" ", 1<<20)},
		{"400 malformed_json", "/relay/poll", "null"},
		{"400 bad_after_id", "/relay/poll", `{"after_id": -1}`},
		{"400 bad_wait_ms", "/relay/poll", `{"wait_ms": -1}`},
		{"400 malformed_json", "/relay/ack", "null"},
		{"400 too_many_ids", "/relay/ack", wire.Ack{IDs: make([]int64, 10_001)}},
	} {
		v.call(c.want, n, c.target, c.body)
	}
}

// good are requests of an agent that every signed operation takes.
func good(n *directorytest.Node) map[string]any {
	own := "/agents/" + n.AID()
	return map[string]any{
		"/register": n.Register("again"), "/profile": wire.Profile{}, own + "/visibility": wire.Visibility{Visibility: "public"},
		own + "/p2p": wire.P2P{}, own + "/keys": wire.Keyset{Keyset: n.Keyset(time.Now(), false)},
		own + "/balance": "", own + "/ledger": "", own + "/redemptions": "",
		own + "/why?cap=text.digest": "", "/relay/send": letter(n, n, 1), "/relay/poll": "", "/relay/ack": `{"ids": []}`,
	}
}

// signWrongly signs every signed operation in every wrong way.
func signWrongly(v *visitor) {
	n, stranger := v.joined("alice"), v.agent()
	for target, body := range good(n) {
		raw := text(body)
		bare := v.opened(v.method(target), target, raw)
		bare.Header.Set(wire.HeaderVersion, strconv.Itoa(wire.Version))
		v.expect("401 bad_auth_headers", bare)
		late := v.opened(v.method(target), target, raw)
		v.sign(n, late, raw, v.now()-400_000)
		v.expect("401 stale_timestamp", late)
		forged := v.signed(n, target, raw)
		forged.Header.Set(wire.HeaderSig, strings.Repeat("A", 86))
		v.expect("401 bad_signature", forged)
		once, again := v.signed(n, target, raw), v.opened(v.method(target), target, raw)
		again.Header = once.Header.Clone()
		v.expect("200", once)
		v.expect("401 replayed", again)
		if strings.HasPrefix(target, "/relay/") {
			v.call("401 unknown_signer", stranger, target, raw)
		}
	}
}

// speakWrongly names another wire at every operation.
func speakWrongly(v *visitor) {
	for _, o := range v.doc.Operations() {
		r := v.opened(o.Method, strings.ReplaceAll(o.Path, "{aid}", v.hub), "")
		r.Header.Set(wire.HeaderVersion, strconv.Itoa(wire.Version+1))
		want := "400 wire_too_new"
		if o.Path == "/hub/identity" {
			want = "200"
		}
		if strings.HasPrefix(o.Path, "/fed/") {
			continue // outside the check
		}
		v.expect(want, r)
		if strings.HasPrefix(o.Path, "/relay/") {
			v.expect("426 wire_too_old", v.opened(o.Method, o.Path, ""))
		}
	}
}

// hurry uses up the rates of registrations.
func hurry(v *visitor) {
	n := v.joined("alice")
	for range memberBurst - 1 {
		v.do(v.signed(n, "/register", n.Register("alice", "text.digest")))
	}
	v.until("429 register_rate_agent", func() *http.Request { return v.signed(n, "/register", n.Register("alice", "text.digest")) })
	v.until("429 review_rate", func() *http.Request {
		r := v.opened(http.MethodPost, "/reviews", "")
		r.Header.Set("X-Real-IP", "203.0.113.2")
		return r
	})
	v.until("429 register_rate", func() *http.Request {
		r := v.opened(http.MethodPost, "/register", "")
		r.Header.Set("X-Real-IP", "203.0.113.1")
		return r
	})
}

// crowd fills a hub that has little room.
func crowd(v *visitor) {
	v.visit(func(c *Config) {
		c.MailMessages, c.MailTotal, c.Envelope, c.Memory, c.PollBudget = 1, 4<<10, 4<<10, 16<<20, 1<<20
		c.SendRate, c.SendBurst = 0.01, 5
		c.SettleRate, c.SettleBurst, c.PaymentRate, c.PaymentBurst = 0.01, 1, 0.01, 2
	})
	n, to, other := v.joined("alice"), v.joined("bob"), v.joined("carol")
	v.call("200", n, "/relay/send", letter(to, to, 10))
	v.call("507 mailbox_full", n, "/relay/send", letter(to, to, 10))
	v.call("507 hub_mail_full", n, "/relay/send", letter(other, other, 3900))
	v.until("429 send_rate", func() *http.Request { return v.signed(n, "/relay/send", letter(to, to, 10)) })
	v.get("404 no_such_route", "/p2p/peers")
	v.granted(n)
	burn := func() *http.Request {
		r := v.opened(http.MethodPost, "/x402/redeem", text(v.redemption(v.pays(n, v.hub, 1), "x")))
		r.Header.Set("X-Real-IP", "203.0.113.3")
		return r
	}
	v.expect("200", burn())
	v.until("429 settle_rate", burn)
	v.until("429 payment_rate", burn)
}

// invited comes to a hub that takes in by invite only, and is blocked there.
func invited(v *visitor) {
	v.visit(func(c *Config) { c.InviteRequired = true })
	cfg := Defaults()
	cfg.DatabaseURL = v.url
	op, err := NewOperator(v.t.Context(), cfg, quiet)
	if err != nil {
		v.t.Fatal(err)
	}
	defer op.Close(v.t.Context())
	by := audit.By{Who: "visitor"}
	token := func(o admission.Order) (string, string) {
		i, token, err := op.Invites.Make(v.t.Context(), o, by)
		if err != nil {
			v.t.Fatal(err)
		}
		return i.ID, token.Reveal()
	}
	with := func(want string, n *directorytest.Node, token string) {
		body := n.Register("alice", "text.digest")
		body.Invite = token
		v.call(want, n, "/register", body)
	}
	n := v.agent()
	_, once := token(admission.Order{Uses: 1})
	_, short := token(admission.Order{For: time.Nanosecond})
	id, revoked := token(admission.Order{})
	if _, err := op.Invites.Revoke(v.t.Context(), id, false, by); err != nil {
		v.t.Fatal(err)
	}
	with("403 invite_required", n, "")
	with("403 invite_unknown", n, "x")
	with("403 invite_expired", n, short)
	with("403 invite_revoked", n, revoked)
	with("200", n, once)
	with("403 invite_used_up", v.agent(), once)
	b := moderation.Block{Target: moderation.Target{AID: n.AID()}, At: time.Now()}
	if err := op.Moderation.BlockMember(v.t.Context(), b, by.Did("block.add", n.AID(), b.At)); err != nil {
		v.t.Fatal(err)
	}
	for target, body := range good(n) {
		v.call("403 blocked", n, target, body)
	}
	v.post("403 blocked", "/reviews", v.submission(v.agent(), n, nil))
	v.get("200", "/agents/"+n.AID())
}
