package vectors

import (
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

type requestVector struct {
	Remarks
	Name     string            `json:"name"`
	Action   string            `json:"action"`
	AID      string            `json:"aid"`
	HubAID   string            `json:"hub_aid"`
	TS       uint64            `json:"ts"`
	Method   string            `json:"method"`
	Target   string            `json:"target"`
	Body     string            `json:"body_utf8"`
	Digest   string            `json:"digest"`
	Preimage string            `json:"preimage"`
	Headers  map[string]string `json:"headers,omitzero"`
}

// relayAuth pins signed requests, section C.
func relayAuth(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string          `json:"name"`
		Vectors []requestVector `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, v.check})
	}
	return vs, err
}

func (v requestVector) check() error {
	preimage := relayauth.Preimage(v.Action, v.AID, v.HubAID, v.TS, v.Method, v.Target, []byte(v.Body))
	digest := sha256.Sum256([]byte(v.Method + "\x00" + v.Target + "\x00" + v.Body))
	err := all(
		same("digest", codec.EncodeB64u(digest[:]), v.Digest),
		same("preimage", string(preimage), v.Preimage),
	)
	if err != nil || v.Headers == nil {
		return err
	}
	return v.signed()
}

// signed checks the headers both ways: they verify, and the suite identity
// signs the same request with the same bytes.
func (v requestVector) signed() error {
	suite, err := Suite()
	if err != nil {
		return err
	}
	theirs := http.Header{}
	for name, value := range v.Headers {
		theirs.Set(name, value)
	}
	claim, err := relayauth.ParseHeaders(theirs)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(v.Method, "http://hub.example"+v.Target, nil)
	if err != nil {
		return err
	}
	relayauth.Sign(suite, v.Action, v.HubAID, r, []byte(v.Body), v.TS)
	var errs []error
	for _, name := range []string{wire.HeaderVersion, wire.HeaderAID, wire.HeaderTime, wire.HeaderSeq, wire.HeaderSig} {
		errs = append(errs, same(name, r.Header.Get(name), theirs.Get(name)))
	}
	errs = append(errs, same("number of headers", len(v.Headers), len(errs)),
		same("time", claim.TS, v.TS), same("signer", claim.AID, v.AID),
		claim.Verify(suite.KEL(), identity.Replay, v.Action, v.HubAID, v.Method, v.Target, []byte(v.Body)))
	return all(errs...)
}

// sigEncoding pins the text form of X-ANet-Sig.
func sigEncoding(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name   string `json:"name"`
		Accept []struct {
			Remarks
			Text  string `json:"text"`
			Bytes Hex    `json:"bytes_hex"`
		} `json:"accept"`
		Reject []struct {
			Remarks
			Why  string `json:"why"`
			Text string `json:"text"`
		} `json:"reject"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Accept {
		vs = append(vs, Vector{"accept " + v.Text, func() error {
			claim, err := claimWith(v.Text)
			return all(err, sameBytes("signature", claim.Sig, v.Bytes))
		}})
	}
	for _, v := range f.Reject {
		vs = append(vs, Vector{"reject " + v.Why, func() error {
			_, err := claimWith(v.Text)
			return outcome("the text", err, false)
		}})
	}
	return vs, err
}

func claimWith(sig string) (relayauth.Claim, error) {
	h := http.Header{}
	h.Set(wire.HeaderAID, "b"+strings.Repeat("a", 58))
	h.Set(wire.HeaderTime, "1")
	h.Set(wire.HeaderSeq, "0")
	h.Set(wire.HeaderSig, sig)
	return relayauth.ParseHeaders(h)
}
