package card

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/anet-hub/anet/shared/codec"
)

func TestTagsOf(t *testing.T) {
	for id, want := range map[string][]string{
		"ptz.absolute@onvif/Cam-1": {"ptz", "absolute", "onvif", "cam", "1"},
		"text.text":                {"text"},
		"翻译.文本":                    {"翻译", "文本"},
		"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r": {
			"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"},
		"_-_": {"_-_"},
	} {
		if got := tagsOf(id); !slices.Equal(got, want) {
			t.Errorf("tagsOf(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestBuildOrders(t *testing.T) {
	p := profile(suite(t))
	p.Skills = []Skill{{ID: "b"}, ChatSkill(), {ID: "a"}}
	p.Interfaces = []Interface{
		{"tcp://192.0.2.1:2", P2PBinding, "1.0", p.AID},
		{"tcp://192.0.2.1:1", P2PBinding, "1.0", p.AID},
		{"https://a.example", "JSONRPC", "1.0", ""},
	}
	p.Extensions = []Extension{{URI: "z"}, {URI: "a"}}
	raw, err := p.Build(Stamp{Seq: 1})
	if err != nil {
		t.Fatal(err)
	}
	card := parsed(t, raw)
	for _, c := range []struct {
		list any
		name string
		want []string
	}{
		{card["skills"], "id", []string{"a", "b", "chat"}},
		{card["supportedInterfaces"], "url", []string{
			"https://hub.example/relay", "https://a.example", "tcp://192.0.2.1:1", "tcp://192.0.2.1:2"}},
		{at(card, "capabilities", "extensions"), "uri", []string{ExtCard, ExtEvidence, "a", "z"}},
	} {
		var got []string
		for _, e := range c.list.([]any) {
			got = append(got, e.(tree)[c.name].(string))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("order of %s = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNextStamp(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_123)
	for _, tt := range []struct{ last, want int64 }{
		{0, 1_790_000_000},
		{1_789_999_999, 1_790_000_000},
		{1_790_000_000, 1_790_000_001},
		{1_790_000_000_456, 1_790_000_000_457},
	} {
		got, err := NextStamp(tt.last, now)
		if want := (Stamp{tt.want, 1_790_000_000_123, 1_789_999_940_123}); err != nil || got != want {
			t.Errorf("NextStamp(%d) = %+v, %v, want %+v", tt.last, got, err, want)
		}
	}
	if _, err := NextStamp(math.MaxInt64, now); CodeOf(err) != NotPublishForm {
		t.Errorf("NextStamp after the last = %v, want %s", err, NotPublishForm)
	}
}

func TestPublishRepeatsItselfUntilSomethingChanges(t *testing.T) {
	c := suite(t)
	p := profile(c)
	first := signedCard(t, c)
	later := noon.Add(time.Hour)
	same, err := Publish(c, p, first, later)
	if err != nil || string(same) != string(first) {
		t.Errorf("nothing changed: %s, %v, want the bytes of before", same, err)
	}
	p.Skills = append(p.Skills, Skill{ID: "text.translate"})
	seq := mustRead(t, first).Seq
	for _, at := range []time.Time{later, noon.AddDate(-1, 0, 0)} {
		next, err := Publish(c, p, first, at)
		if err != nil || mustRead(t, next).Seq <= seq {
			t.Errorf("a new skill at %s: %v, want a higher sequence", at, err)
		}
	}
	rotated, err := c.Rotate(rand.Reader, noon)
	if err != nil {
		t.Fatal(err)
	}
	next, err := Publish(rotated, profile(c), first, later)
	if err != nil || mustRead(t, next).Seq <= seq {
		t.Errorf("a new key: %v, want a higher sequence", err)
	}
	v := knowing(rotated.KEL())
	v.Now = func() time.Time { return later }
	if _, err := v.Verify(context.Background(), next); err != nil {
		t.Errorf("a new key: %v", err)
	}
	if _, err := Publish(c, p, []byte("{}"), later); err == nil {
		t.Error("a last card that is none: no error")
	}
}

func mustRead(t *testing.T, raw []byte) *Statement {
	t.Helper()
	s, err := Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Another implementation of JWS reads what we sign.
func TestSignatureIsStandardJWS(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	entry := object(card, "signatures", 0)
	payload := mustRead(t, printed(t, card)).Payload
	compact := entry["protected"].(string) + "." + codec.EncodeB64u(payload) + "." + entry["signature"].(string)
	jws, err := jose.ParseSignedCompact(compact, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := JWKS(c.History())
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(keys, &set); err != nil {
		t.Fatal(err)
	}
	if _, err := jws.Verify(set); err != nil {
		t.Errorf("go-jose with the hub's JWKS: %v", err)
	}
	header := jws.Signatures[0].Protected
	if typ := header.ExtraHeaders[jose.HeaderType]; typ != "JOSE" {
		t.Errorf("typ = %v, want JOSE", typ)
	}
	if jku, want := header.ExtraHeaders["jku"], JWKSURL("https://hub.example", c.AID()); jku != want {
		t.Errorf("jku = %v, want %s", jku, want)
	}
}

// Checklist 38: rotated keys leave the set, a deactivated AID empties it.
func TestJWKSHoldsCurrentKeysOnly(t *testing.T) {
	c := suite(t)
	rotated, err := c.Rotate(rand.Reader, noon)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := JWKS(rotated.History())
	if err != nil {
		t.Fatal(err)
	}
	set := parsed(t, keys)["keys"].([]any)
	if len(set) != 1 || set[0].(tree)["kid"] != "did:anet:"+c.AID()+"#1" {
		t.Errorf("JWKS after a rotation = %s, want key 1 alone", keys)
	}
	kel, err := rotated.Deactivate(noon)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := JWKS(history(t, kel)); err != nil || string(keys) != `{"keys":[]}` {
		t.Errorf("JWKS of a deactivated AID = %s, %v, want none", keys, err)
	}
}
