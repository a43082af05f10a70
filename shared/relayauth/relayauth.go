// Package relayauth signs and checks HTTP requests (wire 2, section C).
//
// A signature binds the action, the hub, the time and every byte of the
// request. The one rule: what was signed is the target exactly as sent, so
// neither a proxy nor a router may rewrite it before it is checked.
package relayauth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// MaxSkew is how far a timestamp may lie from the verifier's clock, in ms.
const MaxSkew = 300_000

// maxTime bounds timestamps so that adding a skew to one cannot overflow.
const maxTime = 1 << 62

// Claim is what the four headers say. It proves nothing before Verify.
type Claim struct {
	AID string
	TS  uint64 // ms
	Seq uint64
	Sig []byte
}

// ParseHeaders reads the four headers: each exactly once, in its one spelling.
func ParseHeaders(h http.Header) (c Claim, err error) {
	var p parser
	c.AID = p.text(h, wire.HeaderAID)
	c.TS = p.number(h, wire.HeaderTime)
	c.Seq = p.number(h, wire.HeaderSeq)
	c.Sig = p.signature(h, wire.HeaderSig)
	if p.err == nil && !identity.ValidAID(c.AID) {
		p.fail(wire.HeaderAID)
	}
	return c, p.err
}

// parser keeps the first failure.
type parser struct{ err error }

func (p *parser) fail(header string) {
	if p.err == nil {
		p.err = errs.New(errs.Unauthorized, "bad_auth_headers",
			"%s must be given once, in the form the protocol fixes", header).In(header)
	}
}

func (p *parser) text(h http.Header, name string) string {
	v := h.Values(name)
	if len(v) != 1 || v[0] == "" {
		p.fail(name)
		return ""
	}
	return v[0]
}

func (p *parser) number(h http.Header, name string) uint64 {
	s := p.text(h, name)
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != s {
		p.fail(name)
	}
	return n
}

func (p *parser) signature(h http.Header, name string) []byte {
	sig, err := codec.DecodeB64u(p.text(h, name))
	if err != nil || len(sig) != ed25519.SignatureSize {
		p.fail(name)
	}
	return sig
}

// Preimage is what a request's signature covers.
func Preimage(action, aid, hubAID string, ts uint64, method, target string, body []byte) []byte {
	d := sha256.New()
	io.WriteString(d, method+"\x00"+target+"\x00") // a hash never fails
	d.Write(body)
	return []byte("anet-relay/v2/" + action + "/" + aid + "/" + hubAID + "/" +
		strconv.FormatUint(ts, 10) + "/" + codec.EncodeB64u(d.Sum(nil)))
}

// Sign puts the headers on a request about to be sent with body. A retry is
// signed anew with another ts: the hub takes a signature once.
func Sign(c *identity.Controller, action, hubAID string, r *http.Request, body []byte, ts uint64) {
	preimage := Preimage(action, c.AID(), hubAID, ts, method(r), r.URL.RequestURI(), body)
	r.Header.Set(wire.HeaderVersion, strconv.Itoa(wire.Version))
	r.Header.Set(wire.HeaderAID, c.AID())
	r.Header.Set(wire.HeaderTime, strconv.FormatUint(ts, 10))
	r.Header.Set(wire.HeaderSeq, strconv.FormatUint(c.Seq(), 10))
	r.Header.Set(wire.HeaderSig, codec.EncodeB64u(c.Sign(preimage)))
}

// method is the one net/http sends: an empty one means GET.
func method(r *http.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// Fresh reports whether the timestamp is near now.
func (c Claim) Fresh(now time.Time) bool {
	if c.TS > maxTime {
		return false
	}
	skew := now.UnixMilli() - int64(c.TS)
	return -MaxSkew <= skew && skew <= MaxSkew
}

// Verify checks the signature against a key history, replaying it only for a
// signature that its key made: a stranger's bad one stays cheap.
func (c Claim) Verify(kel []byte, replay func([]byte) (*identity.History, error),
	action, hubAID, method, target string, body []byte) error {
	return c.Over(action, hubAID, method, target, body).Verify(kel, replay)
}

// Request is a claim with what its signature covers, to be checked against more
// than one history.
type Request struct {
	Claim
	preimage []byte
}

// Over says what the claim has to have signed.
func (c Claim) Over(action, hubAID, method, target string, body []byte) Request {
	return Request{c, Preimage(action, c.AID, hubAID, c.TS, method, target, body)}
}

// Under checks the signature against a history that was replayed.
func (r Request) Under(h *identity.History) error {
	return identity.VerifyObject(h, r.AID, r.Seq, r.TS, r.preimage, r.Sig)
}

// Verify checks the signature as Claim.Verify does.
func (r Request) Verify(kel []byte, replay func([]byte) (*identity.History, error)) error {
	return identity.VerifyCarried(kel, replay, r.AID, r.Seq, r.TS, r.preimage, r.Sig)
}

// ReplayKey names the signature in the hub's memory of accepted ones (C.3).
func (c Claim) ReplayKey() (key [16]byte) {
	sum := sha256.Sum256(append([]byte(c.AID+"\x00"), c.Sig...))
	copy(key[:], sum[:])
	return key
}
