package adp

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/identity"
)

var noon = time.Unix(1767225600, 0)

func controller(t testing.TB) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(bytes.NewReader(make([]byte, 64)), noon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func offered(t testing.TB, k *identity.Controller) []byte {
	t.Helper()
	raw, err := Offer{
		Name: "Alice", Capabilities: []string{"text.digest"}, RedeemAt: "https://alice.example/redeem",
		Prices: map[string]uint64{"text.digest": 25},
	}.Sign(k, 0, noon)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestOfferIsAdmitted(t *testing.T) {
	k := controller(t)
	raw := offered(t, k)
	c, err := Admit(raw, k.History(), 0, noon)
	if err != nil {
		t.Fatal(err)
	}
	if price, ok := c.Price("text.digest"); !ok || price != 25 {
		t.Errorf("Price = %d %v, want 25", price, ok)
	}
	if c.RedeemAt() != "https://alice.example/redeem" || c.Subject != k.AID() || c.Seq != uint64(noon.Unix()) {
		t.Errorf("card = %+v", c)
	}
	if !bytes.HasPrefix(raw, []byte(`{"subject_did":"`+k.AID()+`","card_schema":{"major":1,"minor":0},"seq":1767225600,`)) {
		t.Errorf("card = %s, want the members in the order of the reference", raw)
	}
}

func TestOfferIsNewerThanTheLast(t *testing.T) {
	k := controller(t)
	raw, err := Offer{}.Sign(k, 1<<40, noon)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Admit(raw, k.History(), 1<<40, noon); err != nil || c.Seq != 1<<40+1 {
		t.Errorf("Admit = %+v, %v, want sequence %d", c, err, 1<<40+1)
	}
}

func TestOfferRefuses(t *testing.T) {
	for _, tt := range []struct {
		why   string
		offer Offer
	}{
		{"a price of nothing", Offer{Prices: map[string]uint64{"a": 0}}},
		{"a price no reader keeps whole", Offer{Prices: map[string]uint64{"a": 1 << 53}}},
		{"a long name", Offer{Name: strings.Repeat("n", 129)}},
	} {
		if _, err := tt.offer.Sign(controller(t), 0, noon); card.CodeOf(err) != Malformed {
			t.Errorf("%s: %v, want %s", tt.why, err, Malformed)
		}
	}
}

func TestPrice(t *testing.T) {
	for _, tt := range []struct {
		why, prices string
		want        uint64
	}{
		{"a number", `{"a":25}`, 25},
		{"a decimal string", `{"a":"25"}`, 25},
		{"the highest", `{"a":9007199254740991}`, 9007199254740991},
		{"beyond it", `{"a":9007199254740992}`, 0},
		{"nothing", `{"a":0}`, 0},
		{"a fraction", `{"a":2.5}`, 0},
		{"another spelling", `{"a":2.5e1}`, 0},
		{"a leading zero", `{"a":"025"}`, 0},
		{"negative", `{"a":-1}`, 0},
		{"words", `{"a":"cheap"}`, 0},
		{"another capability", `{"b":25}`, 0},
		{"no object", `[25]`, 0},
	} {
		var c Card
		if err := json.Unmarshal([]byte(`{"extensions":{"anet.pricing":`+tt.prices+`}}`), &c); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Price("a"); ok != (tt.want != 0) || ok && got != tt.want {
			t.Errorf("%s: price %s = %d %v, want %d", tt.why, tt.prices, got, ok, tt.want)
		}
	}
	if _, ok := (&Card{}).Price("a"); ok {
		t.Error("a card without prices sells")
	}
}

func TestAdmitRefuses(t *testing.T) {
	k := controller(t)
	for _, tt := range []struct {
		why    string
		change func(c *Card)
		want   card.Code
	}{
		{"a critical extension", func(c *Card) { c.Critical = []string{"x"} }, CriticalExtension},
		{"a proof of delegation to itself", func(c *Card) { c.DelegationProof = []byte(`{"any":"thing"}`) }, UnauthorizedSigner},
		{"a sequence several readers take for another", func(c *Card) { c.Seq = 1 << 53 }, Malformed},
		{"51 skills", func(c *Card) {
			for range 51 {
				c.Skills = append(c.Skills, []byte(`{}`))
			}
		}, Malformed},
		{"a long description", func(c *Card) { c.Description = strings.Repeat("d", 4097) }, Malformed},
		{"no subject", func(c *Card) { c.Subject = "" }, Malformed},
	} {
		c, err := Read(offered(t, k))
		if err != nil {
			t.Fatal(err)
		}
		tt.change(c)
		if err := c.Sign(k); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Admit(raw, k.History(), 0, noon); card.CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.why, err, tt.want)
		}
	}
}

func TestAdmitRefusesWhatIsNoCard(t *testing.T) {
	k := controller(t)
	good := string(offered(t, k))
	for _, tt := range []struct{ why, raw string }{
		{"nothing", ""},
		{"an array", "[]"},
		{"null", "null"},
		{"a name twice", `{"seq":1,` + good[1:]},
		{"a sequence as text", strings.Replace(good, `"seq":1767225600`, `"seq":"1767225600"`, 1)},
		{"a negative sequence", strings.Replace(good, `"seq":1767225600`, `"seq":-1`, 1)},
		{"too much", good + strings.Repeat(" ", MaxBytes)},
	} {
		if _, err := Admit([]byte(tt.raw), k.History(), 0, noon); card.CodeOf(err) != Malformed {
			t.Errorf("%s: %v, want %s", tt.why, err, Malformed)
		}
	}
}

func TestAdmitHoldsToTheShapeOfTheSignature(t *testing.T) {
	k := controller(t)
	c, err := Read(offered(t, k))
	if err != nil {
		t.Fatal(err)
	}
	good := c.Envelope.Sig
	for _, sig := range []string{
		good[:len(good)-1], good + "=", good + "\n", strings.Replace(good, "..", ".e30.", 1), good[len(jwsHeader):], "x" + good,
	} {
		c.Envelope.Sig = sig
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Admit(raw, k.History(), 0, noon); card.CodeOf(err) != card.InvalidSignature {
			t.Errorf("sig %q: %v, want %s", sig, err, card.InvalidSignature)
		}
	}
}

// A rotation retires the key, not the card it signed before.
func TestAdmitAfterARotation(t *testing.T) {
	k := controller(t)
	rotated, err := k.Rotate(rand.Reader, noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Admit(offered(t, k), rotated.History(), 0, noon); err != nil {
		t.Errorf("a card from before the rotation: %v", err)
	}
	late, err := Offer{}.Sign(k, 0, noon.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Admit(late, rotated.History(), 0, noon.Add(2*time.Hour)); card.CodeOf(err) != card.Code(identity.RevokedKey) {
		t.Errorf("one from after it: %v, want %s", err, identity.RevokedKey)
	}
	if _, err := Admit(late, nil, 0, noon); card.CodeOf(err) != card.Code(identity.UnknownAID) {
		t.Errorf("one of nobody known: %v, want %s", err, identity.UnknownAID)
	}
}

func TestExpired(t *testing.T) {
	c := Card{NotBefore: uint64(noon.Unix())}
	if c.Expired(noon.AddDate(0, 0, 7)) || !c.Expired(noon.AddDate(0, 0, 7).Add(time.Second)) {
		t.Error("a card expires a week after it became valid, not before")
	}
}

func FuzzAdmit(f *testing.F) {
	k := controller(f)
	f.Add(offered(f, k))
	f.Add([]byte(`{"subject_did":"a","envelope":{"signer_aid":"a","alg":"EdDSA","sig":"` + jwsHeader + `..x"},"skills":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := Admit(raw, k.History(), 0, noon)
		if err != nil {
			if card.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Admit(again, k.History(), 0, noon); err != nil {
			t.Fatalf("admitted, but not when written again: %v", err)
		}
	})
}
