package card

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			v = v.(map[string]any)[step]
		case int:
			v = v.([]any)[step]
		}
	}
	return v
}

func object(v any, path ...any) tree { return at(v, path...).(map[string]any) }

func identityOf(card tree) tree { return object(card, "capabilities", "extensions", 0, "params") }

// Checklist 35: what is refused before anybody looks at signatures.
func TestReadRefuses(t *testing.T) {
	c := suite(t)
	skill := func(card tree) tree { return object(card, "skills", 0) }
	for _, tt := range []struct {
		why    string
		change func(card tree)
		want   Code
	}{
		{"no signatures", func(card tree) { delete(card, "signatures") }, Unsigned},
		{"null for signatures", func(card tree) { card["signatures"] = nil }, Unsigned},
		{"an empty array of signatures", func(card tree) { card["signatures"] = []any{} }, Unsigned},
		{"signatures are an object", func(card tree) { card["signatures"] = tree{} }, InvalidCard},
		{"nine signatures", func(card tree) { card["signatures"] = make([]any, 9) }, CardTooLarge},
		{"no name", func(card tree) { delete(card, "name") }, InvalidCard},
		{"null for the version", func(card tree) { card["version"] = nil }, InvalidCard},
		{"an empty name", func(card tree) { card["name"] = "" }, InvalidCard},
		{"a name of 129 bytes", func(card tree) { card["name"] = strings.Repeat("n", 129) }, CardTooLarge},
		{"a description of 4097 bytes", func(card tree) { card["description"] = strings.Repeat("d", 4097) }, CardTooLarge},
		{"no description", func(card tree) { delete(card, "description") }, InvalidCard},
		{"modes that are no array", func(card tree) { card["defaultInputModes"] = "text/plain" }, InvalidCard},
		{"modes of numbers", func(card tree) { card["defaultInputModes"] = []any{1} }, InvalidCard},
		{"no interface", func(card tree) { card["supportedInterfaces"] = []any{} }, InvalidCard},
		{"an interface without url", func(card tree) { object(card, "supportedInterfaces", 0)["url"] = "" }, InvalidCard},
		{"no protocol version", func(card tree) { delete(object(card, "supportedInterfaces", 0), "protocolVersion") }, InvalidCard},
		{"an optional member of the wrong type", func(card tree) { card["iconUrl"] = 5 }, InvalidCard},
		{"no skills", func(card tree) { card["skills"] = []any{} }, InvalidCard},
		{"a skill without id", func(card tree) { skill(card)["id"] = "" }, InvalidCard},
		{"a skill without description", func(card tree) { skill(card)["description"] = "" }, InvalidCard},
		{"a skill without tags", func(card tree) { skill(card)["tags"] = []any{} }, InvalidCard},
		{"an empty tag", func(card tree) { skill(card)["tags"] = []any{"a", ""} }, InvalidCard},
		{"17 tags", func(card tree) { skill(card)["tags"] = strings.Split(strings.Repeat("t,", 16)+"t", ",") }, CardTooLarge},
		{"a skill twice", func(card tree) { card["skills"] = []any{skill(card), skill(card)} }, InvalidCard},
		{"257 skills", func(card tree) { card["skills"] = manySkills(257) }, CardTooLarge},
		{"no anet-card", func(card tree) { object(card, "capabilities")["extensions"] = []any{} }, InvalidCard},
		{"two anet-cards", func(card tree) {
			e := at(card, "capabilities", "extensions", 0)
			object(card, "capabilities")["extensions"] = []any{e, e}
		}, InvalidCard},
		{"anet-card without params", func(card tree) { delete(object(card, "capabilities", "extensions", 0), "params") }, InvalidCard},
		{"a sequence that is a number", func(card tree) { identityOf(card)["seq"] = 1 }, InvalidCard},
		{"a sequence with a leading zero", func(card tree) { identityOf(card)["seq"] = "01" }, InvalidCard},
		{"a sequence of 2^63", func(card tree) { identityOf(card)["seq"] = "9223372036854775808" }, InvalidCard},
		{"a negative time", func(card tree) { identityOf(card)["issuedAt"] = "-1" }, InvalidCard},
		{"no time", func(card tree) { delete(identityOf(card), "notBefore") }, InvalidCard},
		{"an aid that is none", func(card tree) { identityOf(card)["aid"] = "Bafy" }, InvalidCard},
		{"another tenant", func(card tree) { object(card, "supportedInterfaces", 0)["tenant"] = "bafyother" }, BindingMismatch},
		{"no tenant", func(card tree) { delete(object(card, "supportedInterfaces", 0), "tenant") }, BindingMismatch},
		{"names equal but for case", func(card tree) { skill(card)["Name"] = "x" }, InvalidCard},
		{"the same inside unknown members", func(card tree) { card["x"] = tree{"k": 1, "\u212a": 2} }, InvalidCard},
		{"too long by one byte", func(card tree) { pad(t, card, MaxBytes+1) }, CardTooLarge},
	} {
		card := parsed(t, signedCard(t, c))
		tt.change(card)
		if _, err := Read(printed(t, card)); CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.why, err, tt.want)
		}
	}
}

func manySkills(n int) []any {
	var out []any
	for i := range n {
		out = append(out, tree{"id": fmt.Sprint(i), "name": "n", "description": "d", "tags": []any{"t"}})
	}
	return out
}

// pad grows a card to n bytes with a member nobody knows.
func pad(t *testing.T, card tree, n int) {
	card["x"] = ""
	card["x"] = strings.Repeat("x", n-len(printed(t, card)))
}

func TestReadTakes(t *testing.T) {
	c := suite(t)
	for _, tt := range []struct {
		why    string
		change func(card tree)
	}{
		{"empty but present texts and lists", func(card tree) {
			card["description"], card["version"], card["defaultInputModes"] = "", "", []any{}
		}},
		{"unknown members", func(card tree) { card["x"] = tree{"y": nil} }},
		{"null for an optional member", func(card tree) { card["iconUrl"] = nil }},
		{"the highest sequence", func(card tree) { identityOf(card)["seq"] = "9223372036854775807" }},
		{"256 skills", func(card tree) { card["skills"] = manySkills(256) }},
		{"the longest card", func(card tree) { pad(t, card, MaxBytes) }},
		{"no relay interface at all", func(card tree) {
			object(card, "supportedInterfaces", 0)["protocolBinding"] = "JSONRPC"
		}},
	} {
		card := parsed(t, signedCard(t, c))
		tt.change(card)
		if _, err := Read(printed(t, card)); err != nil {
			t.Errorf("%s: %v, want none", tt.why, err)
		}
	}
}

func TestReadRefusesWhatIsNoStrictJSON(t *testing.T) {
	good := string(signedCard(t, suite(t)))
	for _, tt := range []struct{ why, raw string }{
		{"nothing", ""},
		{"an array", "[]"},
		{"null", "null"},
		{"a cut card", good[:len(good)-1]},
		{"something behind it", good + "{}"},
		{"a name twice", `{"name":"a",` + good[1:]},
		{"bad UTF-8", strings.Replace(good, "text.digest", "\xff", 1)},
		{"a lone surrogate", strings.Replace(good, "text.digest", `\ud800`, 1)},
		{"a number outside binary64", `{"x":1e400,` + good[1:]},
		{"deep nesting", `{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "," + good[1:]},
	} {
		if _, err := Read([]byte(tt.raw)); CodeOf(err) != MalformedJSON {
			t.Errorf("%s: %v, want %s", tt.why, err, MalformedJSON)
		}
	}
}

// Checklist 35: what is refused on account of signatures.
func TestVerifyRefusesSignatures(t *testing.T) {
	c := suite(t)
	stranger, err := identity.NewController(rand.Reader, noon)
	if err != nil {
		t.Fatal(err)
	}
	other := keyID{stranger.AID(), 0}.String()
	own := keyID{c.AID(), 0}.String()
	flipped := func(s string) string { return "A" + s[1:] }
	for _, tt := range []struct {
		why       string
		protected string
		want      Code
	}{
		{"no header", "", BadSignatureHeader},
		{"padding", codec.EncodeB64u([]byte(`{}`)) + "=", BadSignatureHeader},
		{"no alg", b64(`{"kid":"` + own + `"}`), BadSignatureHeader},
		{"another alg", b64(`{"alg":"ES256","kid":"` + own + `"}`), BadSignatureHeader},
		{"alg none", b64(`{"alg":"none","kid":"` + own + `"}`), BadSignatureHeader},
		{"crit", b64(`{"alg":"EdDSA","crit":["x"],"kid":"` + own + `"}`), BadSignatureHeader},
		{"crit null", b64(`{"alg":"EdDSA","crit":null,"kid":"` + own + `"}`), BadSignatureHeader},
		{"an unencoded payload", b64(`{"alg":"EdDSA","b64":false,"kid":"` + own + `"}`), BadSignatureHeader},
		{"a name twice", b64(`{"alg":"EdDSA","alg":"EdDSA","kid":"` + own + `"}`), BadSignatureHeader},
		{"no kid", b64(`{"alg":"EdDSA"}`), BadSignatureHeader},
		{"a kid without sequence", b64(`{"alg":"EdDSA","kid":"did:anet:` + c.AID() + `"}`), BadSignatureHeader},
		{"a kid with a leading zero", b64(`{"alg":"EdDSA","kid":"did:anet:` + c.AID() + `#00"}`), BadSignatureHeader},
		{"another method", b64(`{"alg":"EdDSA","kid":"did:key:` + c.AID() + `#0"}`), BadSignatureHeader},
		{"not an object", b64(`[]`), BadSignatureHeader},
		{"another AID", b64(`{"alg":"EdDSA","kid":"` + other + `"}`), BindingMismatch},
		{"a key state that is not there", b64(`{"alg":"EdDSA","kid":"did:anet:` + c.AID() + `#1"}`), KeyNotCurrent},
		{"another header than the signed one", b64(`{"alg":"EdDSA","kid":"` + own + `"}`), InvalidSignature},
	} {
		card := parsed(t, signedCard(t, c))
		object(card, "signatures", 0)["protected"] = tt.protected
		if _, err := knowing(c.KEL()).Verify(context.Background(), printed(t, card)); CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.why, err, tt.want)
		}
	}
	for _, value := range []func(string) string{
		flipped,
		func(s string) string { return "" },
		func(s string) string { return s + "=" },
		func(s string) string { return s + "\n" },
		func(s string) string { return s[:80] },
		func(s string) string { return s[:85] + "B" }, // a trailing bit
	} {
		card := parsed(t, signedCard(t, c))
		entry := object(card, "signatures", 0)
		entry["signature"] = value(entry["signature"].(string))
		if _, err := knowing(c.KEL()).Verify(context.Background(), printed(t, card)); CodeOf(err) != InvalidSignature {
			t.Errorf("signature %q: %v, want %s", entry["signature"], err, InvalidSignature)
		}
	}
}

func b64(s string) string { return codec.EncodeB64u([]byte(s)) }

func TestVerifyOneGoodSignatureIsEnough(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	good := at(card, "signatures", 0)
	card["signatures"] = []any{"broken", tree{"protected": "", "signature": ""}, good, nil}
	v, err := knowing(c.KEL()).Verify(context.Background(), printed(t, card))
	if err != nil || v.AID != c.AID() || v.KeySeq != 0 {
		t.Errorf("Verify = %+v, %v, want the card of %s", v, err, c.AID())
	}
}

func TestVerifyReportsTheFirstFailureButAnUnknownHistoryWins(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	bad := tree{"protected": "", "signature": ""}
	card["signatures"] = []any{bad, at(card, "signatures", 0)}
	object(card, "signatures", 1)["signature"] = ""
	raw := printed(t, card)
	if _, err := knowing(c.KEL()).Verify(context.Background(), raw); CodeOf(err) != BadSignatureHeader {
		t.Errorf("two bad signatures: %v, want the first, %s", err, BadSignatureHeader)
	}
	unknown := knowing(nil)
	cause := errors.New("no route")
	unknown.KEL = func(context.Context, string) ([]byte, error) { return nil, cause }
	if _, err := unknown.Verify(context.Background(), raw); CodeOf(err) != KELUnavailable || !errors.Is(err, cause) {
		t.Errorf("an unknown history: %v, want %s", err, KELUnavailable)
	}
}

func TestVerifyAsksForTheHistoryOnce(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	bad := tree{"protected": object(card, "signatures", 0)["protected"], "signature": ""}
	card["signatures"] = []any{bad, bad, bad}
	asked := 0
	v := knowing(c.KEL())
	v.KEL = func(_ context.Context, aid string) ([]byte, error) {
		if asked++; aid != c.AID() {
			t.Errorf("asked for %s, want %s", aid, c.AID())
		}
		return c.KEL(), nil
	}
	if _, err := v.Verify(context.Background(), printed(t, card)); CodeOf(err) != InvalidSignature || asked != 1 {
		t.Errorf("Verify = %v after asking %d times, want %s after one", err, asked, InvalidSignature)
	}
}

// Checklist 35: only a current key signs a card.
func TestVerifyKeyHistories(t *testing.T) {
	c := suite(t)
	rotated, err := c.Rotate(rand.Reader, noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	dead, err := rotated.Deactivate(noon.Add(2 * time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := identity.NewController(rand.Reader, noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		why  string
		kel  []byte
		by   *identity.Controller
		want Code
	}{
		{"the only key", c.KEL(), c, ""},
		{"before the rotation, although the card is older", rotated.KEL(), c, KeyNotCurrent},
		{"after it", rotated.KEL(), rotated, ""},
		{"after it, under the history from before", c.KEL(), rotated, KeyNotCurrent},
		{"deactivated", dead, rotated, KeyNotCurrent},
		{"the history of another", stranger.KEL(), c, UnknownAID},
		{"no history at all", []byte{0x80}, c, UnknownAID},
		{"an empty answer", nil, c, KELUnavailable},
	} {
		raw := signedCard(t, tt.by)
		if _, err := knowing(tt.kel).Verify(context.Background(), raw); CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
}

func TestVerifyTime(t *testing.T) {
	c := suite(t)
	raw := signedCard(t, c) // not before noon - 60 s
	for _, tt := range []struct {
		now  time.Time
		want Code
	}{
		{noon.Add(-360 * time.Second), ""},
		{noon.Add(-360*time.Second - time.Millisecond), CardNotYetValid},
		{noon.AddDate(10, 0, 0), ""},
	} {
		v := knowing(c.KEL())
		v.Now = func() time.Time { return tt.now }
		if _, err := v.Verify(context.Background(), raw); CodeOf(err) != tt.want {
			t.Errorf("at %s: %v, want %q", tt.now, err, tt.want)
		}
	}
}

// Checklist 34: a signature over the card as it stands counts too, and names the
// same statement.
func TestVerifyFallsBackToTheRawForm(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	plain, err := Read(printed(t, card))
	if err != nil {
		t.Fatal(err)
	}
	object(card, "skills", 0)["examples"] = []any{}
	card["securitySchemes"] = tree{}
	for _, form := range []Form{Raw, Stripped} {
		v, err := knowing(c.KEL()).Verify(context.Background(), resigned(t, c, card, form))
		if err != nil || v.Form != form || v.PayloadHash != plain.PayloadHash {
			t.Errorf("signed %s: %+v, %v, want that form and the hash of the same statement", form, v, err)
		}
	}
}

func TestVerifyDoesNotReadTheUnprotectedHeader(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	object(card, "signatures", 0)["header"] = tree{"alg": "none", "kid": "x"}
	if _, err := knowing(c.KEL()).Verify(context.Background(), printed(t, card)); err != nil {
		t.Errorf("Verify with an unprotected header = %v", err)
	}
}

func TestVerifyUsesTheReplayItIsGiven(t *testing.T) {
	c := suite(t)
	v := knowing(c.KEL())
	called := false
	v.Replay = func(kel []byte) (*identity.History, error) {
		called = bytes.Equal(kel, c.KEL())
		return identity.Replay(kel)
	}
	if _, err := v.Verify(context.Background(), signedCard(t, c)); err != nil || !called {
		t.Errorf("Verify = %v, own replay called: %v", err, called)
	}
}
