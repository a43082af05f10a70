package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/wire"
)

// Number 39: what is checked, in the order of I.3; the later fault is never seen.
func TestRegisterChecksInOrder(t *testing.T) {
	type change struct {
		body    func(n *directorytest.Node, r *wire.Register)
		request func(w *town, r *http.Request)
	}
	tests := []struct {
		why    string
		change change
		status int
		code   string
		field  string
	}{
		{"all is well", change{}, 200, "", ""},
		{"no headers", change{request: func(_ *town, r *http.Request) { r.Header.Del(wire.HeaderSig) }}, 401, "bad_auth_headers", ""},
		{"no aid", change{body: func(_ *directorytest.Node, r *wire.Register) { r.AID = "" }}, 400, "aid_missing", "aid"},
		{"no kel", change{body: func(_ *directorytest.Node, r *wire.Register) { r.KEL = nil }}, 400, "kel_missing", "kel"},
		{"another agent than the signer, before anything that is said of it", change{body: func(_ *directorytest.Node, r *wire.Register) {
			r.AID, r.KEL, r.Caps = directorytest.NewNode(t, testNow).AID(), []byte("x"), make([]string, 257)
		}}, 401, "not_the_owner", "aid"},
		{"too many ids", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Caps = make([]string, 257) }}, 400, "too_many_caps", "caps"},
		{"an id too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Caps = []string{strings.Repeat("a", 257)} }}, 400, "too_long", "caps"},
		{"a zero byte in an id", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Caps = []string{"a\x00b"} }}, 400, "zero_byte", "caps"},
		{"a zero byte in the name", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Name = "a\x00b" }}, 400, "zero_byte", "name"},
		{"a name too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Name = strings.Repeat("a", 129) }}, 400, "too_long", "name"},
		{"a summary too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Summary = strings.Repeat("a", 513) }}, 400, "too_long", "summary"},
		{"a price list too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Pricing = strings.Repeat("a", 1025) }}, 400, "too_long", "pricing"},
		{"a readme too long", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Readme = strings.Repeat("a", 16<<10+1) }}, 400, "too_long", "readme"},
		{"a history too large", change{body: func(_ *directorytest.Node, r *wire.Register) { r.KEL = make([]byte, 65_537) }}, 400, "kel_too_large", "kel"},
		{"no history", change{body: func(_ *directorytest.Node, r *wire.Register) { r.KEL = []byte("x") }}, 400, "kel_invalid", "kel"},
		{"another agent's history", change{body: func(n *directorytest.Node, r *wire.Register) {
			r.KEL = directorytest.NewNode(t, testNow).Key.KEL()
		}}, 400, "kel_invalid", "kel"},
		{"a history with a broken signature", change{body: func(n *directorytest.Node, r *wire.Register) {
			n.Rotate(testNow)
			r.KEL = bytes.Clone(n.Key.KEL())
			r.KEL[bytes.Index(r.KEL, []byte{0x02, 0x58, 0x40})+20] ^= 1 // in the first event
		}}, 400, "kel_invalid", "kel"},
		{"a signature over another body", change{request: func(_ *town, r *http.Request) { r.Header.Set(wire.HeaderSig, strings.Repeat("A", 86)) }}, 401, "bad_signature", ""},
		{"a bad older card", change{body: func(_ *directorytest.Node, r *wire.Register) { r.Card = wire.RawJSON(`{}`) }}, 400, "card_refused", "card"},
		{"a bad key set fails nothing", change{body: func(_ *directorytest.Node, r *wire.Register) { r.EncKeys = []byte("x") }}, 200, "", ""},
		{"a bad card fails nothing", change{body: func(_ *directorytest.Node, r *wire.Register) { r.A2ACard = wire.RawJSON(`{"name":1,"NAME":2}`) }}, 200, "", ""},
	}
	w := newTown(t)
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w.advance(time.Minute) // the limiter gets its tokens back
			n := w.node(tt.why)
			body := n.Register("alice", "text.digest")
			if tt.change.body != nil {
				tt.change.body(n, &body)
			}
			r := w.signed(n, wire.ActionRegister, "/register", body)
			if tt.change.request != nil {
				tt.change.request(w, r)
			}
			a := w.do(r)
			if field, _ := a.body["field"].(string); a.StatusCode != tt.status || a.code() != tt.code || field != tt.field {
				t.Errorf("%d %s, want %d %s in %q", a.StatusCode, a.raw, tt.status, tt.code, tt.field)
			}
		})
	}
}

func TestAmbiguousRegistrationsAreRefused(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	good, _ := json.Marshal(n.Register("alice", "x"))
	for why, body := range map[string]string{
		"a member twice":          strings.Replace(string(good), `{`, `{"name":"eve",`, 1),
		"a case twin":             strings.Replace(string(good), `{`, `{"NAME":"eve",`, 1),
		"a case twin of the card": strings.Replace(string(good), `{`, `{"a2a_card":null,"A2A_Card":{},`, 1),
		"the card twice":          strings.Replace(string(good), `{`, `{"a2a_card":null,"a2a_card":{},`, 1),
		"bad UTF-8":               strings.Replace(string(good), "alice", "ali\xffce", 1),
		"nested too deep":         strings.Replace(string(good), `{`, `{"z":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`,`, 1),
		"a huge number":           strings.Replace(string(good), `"alice"`, `1e999`, 1),
		"kel is no base64":        strings.Replace(string(good), `"kel":"`, `"kel":"!`, 1),
		"cut short":               string(good[:len(good)-2]),
		"no object":               `[]`,
	} {
		if a := w.call(n, wire.ActionRegister, "/register", []byte(body)); a.StatusCode != 400 || a.code() != "malformed_json" {
			t.Errorf("%s: %d %s", why, a.StatusCode, a.raw)
		}
	}
	if a := w.get("/agents/" + n.AID()); a.StatusCode != 404 {
		t.Errorf("something was stored: %s", a.raw)
	}
}

func TestAnUnchangedRegistrationIsToldSo(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	r := n.Register("alice", "a", "b", "no,")
	r.EncKeys = n.Keyset(testNow, false)
	w.mustRegister(n, r)
	a := w.register(n, r)
	want := `{"aid":"` + n.AID() + `","status":"registered","keys_status":"unchanged","card_status":"absent","added":0,"removed":0,"unchanged":2,"ignored_caps":["no,"]}`
	if string(a.raw) != want {
		t.Errorf("told %s, want %s", a.raw, want)
	}
	again := w.signed(n, wire.ActionRegister, "/register", r)
	body, _ := io.ReadAll(again.Body)
	for i, status := range []int{200, 401} {
		again.Body = io.NopCloser(bytes.NewReader(body))
		if a := w.do(again); a.StatusCode != status {
			t.Errorf("signature used %d times: %d %s", i+1, a.StatusCode, a.raw)
		}
	}
}

func TestOwnersOnly(t *testing.T) {
	w := newTown(t)
	n, eve := w.node("alice"), w.node("eve")
	w.mustRegister(n, n.Register("alice", "x"))
	w.mustRegister(eve, eve.Register("eve", "x"))
	for action, path := range map[string]string{
		wire.ActionVisibility: "/visibility", wire.ActionDeregister: "/deregister", wire.ActionKeys: "/keys", wire.ActionP2P: "/p2p",
	} {
		if a := w.call(eve, action, "/agents/"+n.AID()+path, struct{}{}); a.StatusCode != 401 {
			t.Errorf("eve at %s: %d %s, want 401", path, a.StatusCode, a.raw)
		}
		if a := w.call(n, wire.ActionPoll, "/agents/"+n.AID()+path, struct{}{}); a.StatusCode != 401 {
			t.Errorf("a signature for another action at %s: %d, want 401", path, a.StatusCode)
		}
	}
	if a := w.call(eve, wire.ActionProfile, "/profile", wire.Profile{AID: n.AID(), Summary: "mine"}); a.StatusCode != 401 {
		t.Errorf("eve's profile of alice: %d %s, want 401", a.StatusCode, a.raw)
	}
	stranger := w.node("stranger")
	if a := w.call(stranger, wire.ActionVisibility, "/agents/"+stranger.AID()+"/visibility", struct{}{}); a.StatusCode != 404 {
		t.Errorf("visibility of an unknown agent: %d, want 404 before any check", a.StatusCode)
	}
	if a := w.call(n, wire.ActionVisibility, "/agents/"+n.AID()+"/visibility", wire.Visibility{Visibility: "secret"}); a.StatusCode != 400 {
		t.Errorf("a visibility there is not: %d, want 400", a.StatusCode)
	}
}

func TestKeyPublication(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	first := n.Keyset(testNow, false)
	second := n.Keyset(testNow.Add(time.Minute), true)
	path := "/agents/" + n.AID() + "/keys"
	for _, c := range []struct {
		why    string
		raw    []byte
		status int
		answer string
	}{
		{"the first", first, 200, `{"aid":"` + n.AID() + `","keys_status":"ok"}`},
		{"again", first, 200, `{"aid":"` + n.AID() + `","keys_status":"unchanged"}`},
		{"a newer one", second, 200, `{"aid":"` + n.AID() + `","keys_status":"ok"}`},
		{"a rollback", first, 409, ""}, {"no key set", []byte("x"), 400, ""}, {"nothing", nil, 400, ""},
	} {
		a := w.call(n, wire.ActionKeys, path, wire.Keyset{Keyset: c.raw})
		if a.StatusCode != c.status || c.answer != "" && strings.TrimSpace(string(a.raw)) != c.answer {
			t.Errorf("%s: %d %s, want %d %s", c.why, a.StatusCode, a.raw, c.status, c.answer)
		}
	}
}

// Whatever the body, finding the card in it neither fails nor changes the rest.
func FuzzRegistrationBody(f *testing.F) {
	f.Add([]byte(`{"aid":"b","a2a_card":{"a":[1,"}"]},"name":"n"}`))
	f.Add([]byte(`{"a2a_card":null}`))
	f.Add([]byte(`{"a2a_card":{"a":1,"a":2}}`))
	f.Add([]byte(`{"a2a_card":`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var around, plain wire.Register
		if decodeAround(body, "a2a_card", &around, &around.A2ACard) != nil {
			return
		}
		if decode(body, &plain) == nil && (plain.AID != around.AID || !bytes.Equal(plain.A2ACard, around.A2ACard)) {
			t.Fatalf("%q reads as %+v around its card and as %+v whole", body, around, plain)
		}
	})
}
