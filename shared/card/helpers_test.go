package card

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// noon is when cards are made and verified.
var noon = time.UnixMilli(1767225600000)

// suite is an identity of its own for these tests, the same in every run.
func suite(t testing.TB) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(bytes.NewReader(make([]byte, 64)), noon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// knowing verifies cards at noon with one key history, whoever is asked for.
func knowing(kel []byte) Verifier {
	return Verifier{
		KEL: func(context.Context, string) ([]byte, error) { return kel, nil },
		Now: func() time.Time { return noon },
	}
}

// tree is a card as a test changes it.
type tree = map[string]any

func parsed(t testing.TB, raw []byte) tree {
	t.Helper()
	var v tree
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func printed(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// profile is a small card of the suite identity.
func profile(c *identity.Controller) Profile {
	return Profile{AID: c.AID(), HubURL: "https://hub.example", Skills: []Skill{{ID: "text.digest"}}}
}

// signedCard is that card, signed at noon.
func signedCard(t testing.TB, c *identity.Controller) []byte {
	t.Helper()
	raw, err := Publish(c, profile(c), nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// resigned signs a changed card over its raw or stripped payload without asking
// whether it should be signed.
func resigned(t testing.TB, c *identity.Controller, card tree, form Form) []byte {
	t.Helper()
	delete(card, "signatures")
	payload, err := stripped(card)
	if form == Raw {
		payload, err = canonical(card)
	}
	if err != nil {
		t.Fatal(err)
	}
	entry, err := sign(payload, header{Alg: "EdDSA", KID: keyID{c.AID(), c.Seq()}.String()}, c.Sign)
	if err != nil {
		t.Fatal(err)
	}
	card["signatures"] = []any{entry}
	return printed(t, card)
}

func mustCanonical(t testing.TB, raw []byte) []byte {
	t.Helper()
	out, err := codec.CanonicalJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func history(t testing.TB, kel []byte) *identity.History {
	t.Helper()
	h, err := identity.Replay(kel)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
