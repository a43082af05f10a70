package card

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

type golden struct {
	NowMS         int64  `json:"now_ms"`
	Card          string `json:"published_card"`
	Payload       string `json:"canonical_payload"`
	PayloadSHA256 string `json:"payload_sha256"`
	Header        string `json:"protected_header"`
	Protected     string
	Signature     string
	SigningInput  string `json:"signing_input"`
	Expect        struct {
		AID         string
		KeyStateSeq uint64 `json:"key_state_seq"`
		Seq         string
		IssuedAt    int64  `json:"issued_at"`
		NotBefore   int64  `json:"not_before"`
		PayloadForm string `json:"payload_form"`
		PublishForm bool   `json:"publish_form"`
	}
}

// Checklist 34.
func TestVectorsGoldenVerifies(t *testing.T) {
	var g golden
	load(t, "a2acard-golden.json", &g)
	v, err := knowing(suite(t).KEL()).Verify(context.Background(), []byte(g.Card))
	if err != nil {
		t.Fatal(err)
	}
	e := g.Expect
	if v.AID != e.AID || v.KeySeq != e.KeyStateSeq || strconv.FormatInt(v.Seq, 10) != e.Seq ||
		v.IssuedAt != e.IssuedAt || v.NotBefore != e.NotBefore || string(v.Form) != e.PayloadForm {
		t.Errorf("Verify = %s key %d %+v %s, want %+v", v.AID, v.KeySeq, v.Stamp, v.Form, e)
	}
	if string(v.Payload) != g.Payload || hex.EncodeToString(v.PayloadHash[:]) != g.PayloadSHA256 {
		t.Errorf("Payload = %s with hash %x, want the published ones", v.Payload, v.PayloadHash)
	}
	if err := CheckPublishForm([]byte(g.Card)); (err == nil) != e.PublishForm {
		t.Errorf("CheckPublishForm = %v, want publish form %v", err, e.PublishForm)
	}
}

func TestVectorsGoldenIsSignedAlike(t *testing.T) {
	var g golden
	load(t, "a2acard-golden.json", &g)
	var h header
	if err := json.Unmarshal([]byte(g.Header), &h); err != nil {
		t.Fatal(err)
	}
	card, err := Sign(suite(t), []byte(g.Payload), h.JKU)
	if err != nil || string(card) != g.Card {
		t.Errorf("Sign = %s, %v, want the published card", card, err)
	}
	var input string
	entry, err := sign([]byte(g.Payload), h, func(b []byte) []byte { input = string(b); return suite(t).Sign(b) })
	if err != nil || input != g.SigningInput || entry["protected"] != g.Protected || entry["signature"] != g.Signature {
		t.Errorf("sign over %s = %v, %v, want the published signature", input, entry, err)
	}
}

// Checklist 34 and 35: both forms of the payload, and one hash for one statement.
func TestVectorsCrossSDK(t *testing.T) {
	var f struct {
		SuiteAID string `json:"suite_aid"`
		PubHex   string `json:"pub_hex"`
		Vectors  []struct {
			Name    string
			Card    json.RawMessage
			Payload string `json:"signed_payload"`
			Expect  struct {
				Verify      string
				PublishForm bool   `json:"publish_form"`
				SameAs      string `json:"same_statement_as"`
			}
		}
	}
	load(t, "a2acard-cross-sdk.json", &f)
	c := suite(t)
	if state, _ := c.History().State(0); hex.EncodeToString(state.Key) != f.PubHex || c.AID() != f.SuiteAID {
		t.Fatal("the vectors are not signed by the suite identity")
	}
	hashes := map[string][sha256.Size]byte{}
	for _, v := range f.Vectors {
		got, hash := crossSDK(t, c, v.Name, v.Card, v.Payload)
		if got != v.Expect.Verify {
			t.Errorf("%s: verifies as %q, want %q", v.Name, got, v.Expect.Verify)
		}
		if err := CheckPublishForm(v.Card); (err == nil) != v.Expect.PublishForm {
			t.Errorf("%s: CheckPublishForm = %v, want publish form %v", v.Name, err, v.Expect.PublishForm)
		}
		if same := v.Expect.SameAs; same != "" && hashes[same] != hash {
			t.Errorf("%s: PayloadHash = %x, want that of %s", v.Name, hash, same)
		}
		hashes[v.Name] = hash
	}
}

// crossSDK verifies a card and tells which form did, or the code of the refusal.
func crossSDK(t *testing.T, c *identity.Controller, name string, card []byte, payload string) (string, [sha256.Size]byte) {
	v, err := knowing(c.KEL()).Verify(context.Background(), card)
	if name == "proxy-card" {
		if CodeOf(err) != InvalidCard {
			t.Errorf("%s: as a network card: %v, want %s", name, err, InvalidCard)
		}
		v, err = signatureAlone(t, c, parsed(t, card))
	}
	if err != nil {
		return string(CodeOf(err)), [sha256.Size]byte{}
	}
	if string(v.Payload) != payload {
		t.Errorf("%s: Payload = %s, want %s", name, v.Payload, payload)
	}
	return string(v.Form), v.PayloadHash
}

// signatureAlone verifies a card that has no identity of its own.
func signatureAlone(t *testing.T, c *identity.Controller, tree tree) (*Verified, error) {
	t.Helper()
	signatures, err := takeSignatures(tree)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := stripped(tree)
	if err != nil {
		t.Fatal(err)
	}
	s := &Statement{AID: c.AID(), Payload: payload, PayloadHash: sha256.Sum256(payload), tree: tree, signatures: signatures}
	return knowing(c.KEL()).authenticate(context.Background(), s)
}

// Checklist 38.
func TestVectorsJWKS(t *testing.T) {
	var f struct {
		KEL         string `json:"kel_hex"`
		JWKS        string `json:"jwks_bytes"`
		ContentType string `json:"content_type"`
	}
	load(t, "a2acard-jwks.json", &f)
	h, err := identity.Replay(unhex(t, f.KEL))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := JWKS(h); err != nil || string(got) != f.JWKS {
		t.Errorf("JWKS = %s, %v, want %s", got, err, f.JWKS)
	}
	if JWKSType != f.ContentType {
		t.Errorf("JWKSType = %q, want %q", JWKSType, f.ContentType)
	}
}

type unsigned struct {
	Input struct {
		AID, Name, Description, Version string
		HubURL                          string `json:"hub_url"`
		Seq, IssuedAt, NotBefore        string
		Skills                          []Skill
		Extensions                      []Extension `json:"extra_extensions"`
		Interfaces                      []Interface `json:"extra_interfaces"`
	}
	Canonical string                           `json:"expect_canonical"`
	SHA256    string                           `json:"expect_canonical_sha256"`
	RelayURL  []struct{ Hub, URL string }      `json:"relay_url"`
	JKU       []struct{ Hub, AID, JKU string } `json:"jku"`
	Names     []struct{ AID, Prefix string }   `json:"default_name"`
	RefuseExt []json.RawMessage                `json:"refuse_extension"`
	RefuseURL []string                         `json:"refuse_interface_url"`
}

func (u unsigned) profile() Profile {
	in := u.Input
	return Profile{AID: in.AID, HubURL: in.HubURL, Name: in.Name, Description: in.Description,
		Version: in.Version, Skills: in.Skills, Extensions: in.Extensions, Interfaces: in.Interfaces}
}

func (u unsigned) stamp(t *testing.T) Stamp {
	t.Helper()
	var s Stamp
	for text, to := range map[string]*int64{u.Input.Seq: &s.Seq, u.Input.IssuedAt: &s.IssuedAt, u.Input.NotBefore: &s.NotBefore} {
		var ok bool
		if *to, ok = decimal(text); !ok {
			t.Fatalf("%q is no decimal", text)
		}
	}
	return s
}

func TestVectorsNetcardIsBuiltAlike(t *testing.T) {
	var u unsigned
	load(t, "netcard-unsigned.json", &u)
	got, err := u.profile().Build(u.stamp(t))
	if err != nil || string(got) != u.Canonical {
		t.Fatalf("Build = %s, %v, want %s", got, err, u.Canonical)
	}
	if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != u.SHA256 {
		t.Errorf("SHA-256 = %x, want %s", sum, u.SHA256)
	}
	if again, err := stripped(parsed(t, got)); err != nil || string(again) != u.Canonical {
		t.Errorf("stripped, the built card is %s, %v, want it unchanged", again, err)
	}
}

func TestVectorsNetcardParts(t *testing.T) {
	var u unsigned
	load(t, "netcard-unsigned.json", &u)
	for _, c := range u.RelayURL {
		if got := RelayURL(c.Hub); got != c.URL {
			t.Errorf("RelayURL(%q) = %q, want %q", c.Hub, got, c.URL)
		}
	}
	for _, c := range u.JKU {
		if got := JWKSURL(c.Hub, c.AID); got != c.JKU {
			t.Errorf("JWKSURL(%q, %q) = %q, want %q", c.Hub, c.AID, got, c.JKU)
		}
	}
	for _, c := range u.Names {
		p := u.profile()
		p.AID = c.AID
		raw, err := p.Build(u.stamp(t))
		if err != nil || parsed(t, raw)["name"] != c.Prefix {
			t.Errorf("Build for %s: name %q, %v, want %q", c.AID, parsed(t, raw)["name"], err, c.Prefix)
		}
	}
}

// Checklist 37.
func TestVectorsNetcardRefusals(t *testing.T) {
	var u unsigned
	load(t, "netcard-unsigned.json", &u)
	for _, raw := range u.RefuseExt {
		if err := buildWithExtension(u.profile(), u.stamp(t), raw); CodeOf(err) != NotPublishForm {
			t.Errorf("a card with extension %s: %v, want %s", raw, err, NotPublishForm)
		}
	}
	for _, url := range u.RefuseURL {
		p := u.profile()
		p.Interfaces = []Interface{{URL: url, ProtocolBinding: P2PBinding, ProtocolVersion: "1.0", Tenant: p.AID}}
		if _, err := p.Build(u.stamp(t)); CodeOf(err) != NotPublishForm {
			t.Errorf("a card with interface %s: %v, want %s", url, err, NotPublishForm)
		}
	}
}

// buildWithExtension adds an extension: to the profile, or, when Extension has no
// place for what it holds, to the built card.
func buildWithExtension(p Profile, s Stamp, raw json.RawMessage) error {
	var e Extension
	if codec.UnmarshalJSON(raw, &e) == nil {
		p.Extensions = append(p.Extensions, e)
	}
	built, err := p.Build(s)
	if err != nil {
		return err
	}
	var card map[string]any
	if err := json.Unmarshal(built, &card); err != nil {
		return err
	}
	capabilities := card["capabilities"].(map[string]any)
	capabilities["extensions"] = append(capabilities["extensions"].([]any), raw)
	spoiled, err := json.Marshal(card)
	if err != nil {
		return err
	}
	return CheckPublishForm(spoiled)
}
