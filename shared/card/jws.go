package card

import (
	"crypto/ed25519"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/codec"
)

const didPrefix = "did:anet:"

// signature is one entry of signatures; its unprotected header is never read.
type signature struct{ protected, value string }

// header is a protected header. Its members stand in canonical order.
type header struct {
	Alg string `json:"alg"`
	JKU string `json:"jku,omitzero"`
	KID string `json:"kid"`
	Typ string `json:"typ,omitzero"`
}

// keyID is the kid of a key state.
type keyID struct {
	AID string
	Seq uint64
}

func newSignature(entry any) (signature, error) {
	object, _ := entry.(map[string]any)
	protected, ok1 := object["protected"].(string)
	value, ok2 := object["signature"].(string)
	if !ok1 || !ok2 {
		return signature{}, Refuse(BadSignatureHeader, "a signature has no protected header or no signature")
	}
	return signature{protected, value}, nil
}

// key reads the protected header strictly and says which key is to have signed.
func (s signature) key() (keyID, error) {
	raw, err := codec.DecodeB64u(s.protected)
	if err != nil {
		return keyID{}, Refuse(BadSignatureHeader, "the protected header is no strict base64url").Because(err)
	}
	var h struct {
		header
		// Both change what is signed or what must be understood. RFC 7797 has b64
		// only together with crit, so it is refused on its own as well.
		Crit jsontext.Value `json:"crit"`
		B64  jsontext.Value `json:"b64"`
	}
	if err := codec.UnmarshalJSON(raw, &h); err != nil {
		return keyID{}, Refuse(BadSignatureHeader, "the protected header is no strict JSON").Because(err)
	}
	switch kid, ok := parseKeyID(h.KID); {
	case h.Crit != nil || h.B64 != nil:
		return keyID{}, Refuse(BadSignatureHeader, "the protected header holds crit or b64")
	case h.Alg != string(jose.EdDSA):
		return keyID{}, Refuse(BadSignatureHeader, "alg is not EdDSA")
	case !ok:
		return keyID{}, Refuse(BadSignatureHeader, "kid does not name a key state of an AID")
	default:
		return kid, nil
	}
}

// verifies reports whether key signed payload.
func (s signature) verifies(payload []byte, key ed25519.PublicKey) bool {
	if sig, err := codec.DecodeB64u(s.value); err != nil || len(sig) != ed25519.SignatureSize {
		return false // the library reads base64 less strictly
	}
	if len(key) != ed25519.PublicKeySize {
		return false
	}
	jws, err := jose.ParseDetached(s.protected+".."+s.value, payload, []jose.SignatureAlgorithm{jose.EdDSA})
	return err == nil && jws.DetachedVerify(payload, key) == nil
}

// sign makes the entry of signatures for payload.
func sign(payload []byte, h header, signer func([]byte) []byte) (map[string]any, error) {
	raw, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	protected := codec.EncodeB64u(raw)
	sig := signer([]byte(protected + "." + codec.EncodeB64u(payload)))
	return map[string]any{"protected": protected, "signature": codec.EncodeB64u(sig)}, nil
}
