package vectors

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/codec"
)

type crossFile struct {
	Remarks
	Now       int64         `json:"now_ms"`
	AID       string        `json:"suite_aid"`
	Pub       Hex           `json:"pub_hex"`
	Semantics string        `json:"semantics"`
	Vectors   []crossVector `json:"vectors"`
}

type crossVector struct {
	Remarks
	Name    string         `json:"name"`
	Card    jsontext.Value `json:"card"`
	Payload string         `json:"signed_payload"`
	Expect  struct {
		Verify    string `json:"verify"`
		Published bool   `json:"publish_form"`
		SameAs    string `json:"same_statement_as"`
	} `json:"expect"`
	Python bool `json:"a2a_python_verifies"`
}

// cardCrossSDK pins cards that another SDK signed.
func cardCrossSDK(data []byte) ([]Vector, error) {
	var f crossFile
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, func() error { return f.check(v) }})
	}
	return vs, err
}

func (f crossFile) check(v crossVector) error {
	got, err := f.verify(v)
	outcomes := []error{
		f.standardJWS(v),
		outcome("the publish form", card.CheckPublishForm(v.Card), v.Expect.Published),
	}
	if err != nil {
		return all(append(outcomes,
			same("verify", string(card.CodeOf(err)), v.Expect.Verify),
			same("statement a refused card makes", "", v.Expect.SameAs))...)
	}
	return all(append(outcomes,
		same("verify", string(got.Form), v.Expect.Verify),
		same("payload", string(got.Payload), v.Payload),
		f.sameStatement(v, got))...)
}

// verify tries the card as a network card, then, if it has no identity to be one,
// its signature alone.
func (f crossFile) verify(v crossVector) (*card.Verified, error) {
	by, err := cardVerifier(f.Now)
	if err != nil {
		return nil, err
	}
	got, err := by.Verify(context.Background(), v.Card)
	if v.Name == "proxy-card" && card.CodeOf(err) == card.InvalidCard {
		return by.VerifySignatures(context.Background(), v.Card, f.AID)
	}
	return got, err
}

// standardJWS checks the signature over the payload the signer names with JOSE
// alone, whatever we think of the card.
func (f crossFile) standardJWS(v crossVector) error {
	entry, err := firstSignature(v.Card)
	if err != nil {
		return err
	}
	compact := entry.Protected + "." + codec.EncodeB64u([]byte(v.Payload)) + "." + entry.Signature
	jws, err := jose.ParseSignedCompact(compact, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return err
	}
	_, err = jws.Verify(ed25519.PublicKey(f.Pub))
	return err
}

func (f crossFile) sameStatement(v crossVector, got *card.Verified) error {
	if v.Expect.SameAs == "" {
		return nil
	}
	for _, other := range f.Vectors {
		if other.Name == v.Expect.SameAs {
			want, err := f.verify(other)
			return all(err, same("PayloadHash", got.PayloadHash, want.PayloadHash))
		}
	}
	return fmt.Errorf("no vector %q to be the same as", v.Expect.SameAs)
}
