package vectors

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// cardVerifier verifies at a time of the file, with the suite's key history.
func cardVerifier(nowMS int64) (card.Verifier, error) {
	suite, err := Suite()
	return card.Verifier{
		KEL: func(context.Context, string) ([]byte, error) { return suite.KEL(), nil },
		Now: func() time.Time { return time.UnixMilli(nowMS) },
	}, err
}

// cardEntry is one entry of signatures.
type cardEntry struct {
	Protected string `json:"protected"`
	Signature string `json:"signature"`
}

func firstSignature(raw []byte) (cardEntry, error) {
	var c struct {
		Signatures []cardEntry `json:"signatures"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return cardEntry{}, err
	}
	if len(c.Signatures) == 0 {
		return cardEntry{}, errors.New("the card has no signature")
	}
	return c.Signatures[0], nil
}

type goldenFile struct {
	Remarks
	Name      string `json:"name"`
	Signer    string `json:"signer"`
	Now       int64  `json:"now_ms"`
	Card      string `json:"published_card"`
	Payload   string `json:"canonical_payload"`
	Hash      Hex    `json:"payload_sha256"`
	Header    string `json:"protected_header"`
	Protected string `json:"protected"`
	Signature string `json:"signature"`
	Input     string `json:"signing_input"`
	Expect    struct {
		AID       string    `json:"aid"`
		KeySeq    uint64    `json:"key_state_seq"`
		Seq       string    `json:"seq"`
		IssuedAt  int64     `json:"issued_at"`
		NotBefore int64     `json:"not_before"`
		Form      card.Form `json:"payload_form"`
		Published bool      `json:"publish_form"`
	} `json:"expect"`
}

// cardGolden pins a published card, section H.3, in both directions.
func cardGolden(data []byte) ([]Vector, error) {
	var f goldenFile
	err := decode(data, &f)
	return []Vector{{"verify", f.verify}, {"sign", f.sign}}, err
}

func (f goldenFile) verify() error {
	v, err := cardVerifier(f.Now)
	if err != nil {
		return err
	}
	got, err := v.Verify(context.Background(), []byte(f.Card))
	if err != nil {
		return err
	}
	e := f.Expect
	return all(
		same("aid", got.AID, e.AID),
		same("key state", got.KeySeq, e.KeySeq),
		same("seq", strconv.FormatInt(got.Seq, 10), e.Seq),
		same("issuedAt", got.IssuedAt, e.IssuedAt),
		same("notBefore", got.NotBefore, e.NotBefore),
		same("form", got.Form, e.Form),
		same("payload", string(got.Payload), f.Payload),
		sameBytes("PayloadHash", got.PayloadHash[:], f.Hash),
		outcome("the publish form", card.CheckPublishForm([]byte(f.Card)), e.Published),
	)
}

func (f goldenFile) sign() error {
	suite, err := Suite()
	if err != nil {
		return err
	}
	var header struct {
		JKU string `json:"jku"`
	}
	if err := json.Unmarshal([]byte(f.Header), &header); err != nil {
		return err
	}
	signed, err := card.Sign(suite, []byte(f.Payload), header.JKU)
	if err != nil {
		return err
	}
	entry, err := firstSignature(signed)
	return all(err,
		same("card", string(signed), f.Card),
		same("protected", entry.Protected, f.Protected),
		same("protected header", codec.EncodeB64u([]byte(f.Header)), f.Protected),
		same("signature", entry.Signature, f.Signature),
		same("signing input", entry.Protected+"."+codec.EncodeB64u([]byte(f.Payload)), f.Input),
	)
}

// cardJWKS pins section H.5.
func cardJWKS(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name        string `json:"name"`
		KEL         Hex    `json:"kel_hex"`
		JWKS        string `json:"jwks_bytes"`
		ContentType string `json:"content_type"`
	}
	err := decode(data, &f)
	return []Vector{{f.Name, func() error {
		h, err := identity.Replay(f.KEL)
		if err != nil {
			return err
		}
		keys, err := card.JWKS(h)
		return all(err,
			same("key set", string(keys), f.JWKS),
			same("content type", card.JWKSType, f.ContentType))
	}}}, err
}
