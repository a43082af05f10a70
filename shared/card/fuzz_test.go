package card

import (
	"context"
	"testing"
)

// Whatever bytes arrive, a verdict comes back: a card that verifies, or a code.
// What verifies is stable: written in canonical form it verifies the same way.
func FuzzVerify(f *testing.F) {
	c := suite(f)
	f.Add(signedCard(f, c))
	f.Add([]byte(`{"signatures":[{}],"name":"","skills":[{"id":"","tags":null}]}`))
	f.Add([]byte(`{"capabilities":{"extensions":[{"params":{"seq":"1"}}]},"signatures":[]}`))
	v := knowing(c.KEL())
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := v.Verify(context.Background(), raw)
		if err != nil {
			if CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		again, err := v.Verify(context.Background(), mustCanonical(t, raw))
		if err != nil || again.PayloadHash != got.PayloadHash || again.Form != got.Form {
			t.Fatalf("in canonical form: %+v, %v, want %+v", again, err, got)
		}
	})
}

// The header of a signature is read before anything about its signer is known.
func FuzzSignatureHeader(f *testing.F) {
	f.Add(`{"alg":"EdDSA","kid":"did:anet:bafy#0"}`)
	f.Add(`{"alg":"EdDSA","crit":[],"kid":"did:anet:bafy#18446744073709551616"}`)
	f.Fuzz(func(t *testing.T, header string) {
		kid, err := signature{protected: b64(header)}.key()
		if err == nil && (kid.AID == "" || len(kid.AID) > 128) {
			t.Fatalf("header %q names %+v", header, kid)
		}
		if again, ok := parseKeyID(kid.String()); err == nil && (!ok || again != kid) {
			t.Fatalf("kid %s reads as %+v", kid, again)
		}
	})
}
