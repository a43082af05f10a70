package adp

import (
	"crypto/ed25519"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// The codes of wire 1, section 4.9; those of identity occur as well. Some are
// spelled like a code of the network card and mean the same.
const (
	Malformed              card.Code = "MALFORMED_CARD"
	UnsupportedSchemaMajor card.Code = "UNSUPPORTED_SCHEMA_MAJOR"
	UnauthorizedSigner     card.Code = "UNAUTHORIZED_SIGNER"
	CriticalExtension      card.Code = "CRITICAL_EXTENSION_UNVERIFIABLE"
	StaleSeq               card.Code = "STALE_SEQ"
	DanglingGenome         card.Code = "DANGLING_GENOME_CID"
)

const maxSkew = 300 // seconds

// Lifetime is how long a card is good for.
const Lifetime = 7 * 24 * time.Hour

// Read reads a card and checks its form, but not who signed it.
func Read(raw []byte) (*Card, error) {
	if len(raw) > MaxBytes {
		return nil, card.Refuse(Malformed, "the card has more than %d bytes", MaxBytes)
	}
	if err := codec.CheckIJSON(raw); err != nil {
		return nil, card.Refuse(Malformed, "the card is no strict JSON").Because(err)
	}
	// Names may differ in case only: ids in extensions do, and none is folded here.
	var c Card
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, card.Refuse(Malformed, "the card does not fit its schema").Because(err)
	}
	return &c, c.wellFormed()
}

func (c *Card) wellFormed() error {
	switch {
	case c.Subject == "" || c.Envelope.Signer == "":
		return card.Refuse(Malformed, "the card names no subject or no signer")
	case c.Envelope.Alg != alg || c.Envelope.Sig == "":
		return card.Refuse(Malformed, "the card has no EdDSA signature")
	case len(c.Name) > maxName || len(c.Description) > maxDescription || len(c.Skills) > MaxSkills:
		return card.Refuse(Malformed, "name, description or skills are too long")
	case max(c.Seq, c.IssuedAt, c.NotBefore, c.Envelope.KeySeq) > maxInteger:
		return card.Refuse(Malformed, "a number is beyond 2^53")
	default:
		return nil
	}
}

// Admit checks a card against the history of its agent and the sequence on
// record, 0 for none. The first failure speaks; each is a *card.Error. An expired
// card is admitted: see Expired.
func Admit(raw []byte, h *identity.History, highWater uint64, now time.Time) (*Card, error) {
	c, err := Read(raw)
	if err != nil {
		return nil, err
	}
	if c.Schema.Major != 1 {
		return nil, card.Refuse(UnsupportedSchemaMajor, "card schema %d is unknown", c.Schema.Major)
	}
	if err := c.authentic(h); err != nil {
		return nil, err
	}
	if err := c.admissible(highWater, uint64(max(0, now.Unix()))); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Card) authentic(h *identity.History) error {
	sig, err := c.signature()
	if err != nil {
		return err
	}
	preimage, err := c.Preimage()
	if err != nil {
		return card.Refuse(Malformed, "the card has no canonical form").Because(err)
	}
	err = identity.VerifyObject(h, c.Envelope.Signer, c.Envelope.KeySeq, c.IssuedAt*1000, SigningInput(preimage), sig)
	if err != nil {
		return card.Refuse(card.Code(identity.CodeOf(err)), "the signature does not count").Because(err)
	}
	return nil
}

// signature demands the one header there is and an empty payload part.
func (c *Card) signature() ([]byte, error) {
	text, ok := strings.CutPrefix(c.Envelope.Sig, jwsHeader+"..")
	sig, err := codec.DecodeB64u(text)
	if !ok || err != nil || len(sig) != ed25519.SignatureSize {
		return nil, card.Refuse(card.InvalidSignature, "sig is no detached JWS of an Ed25519 signature")
	}
	return sig, nil
}

func (c *Card) admissible(highWater, now uint64) error {
	switch {
	case c.Envelope.Signer != c.Subject:
		return card.Refuse(UnauthorizedSigner, "another agent than its subject signed the card")
	case present(c.DelegationProof):
		// The reference lets any proof speak for the subject, forged ones too.
		return card.Refuse(UnauthorizedSigner, "delegated publication is not accepted")
	case len(c.Critical) > 0:
		return card.Refuse(CriticalExtension, "the card demands extensions nobody here knows")
	case c.Seq <= highWater:
		return card.Refuse(StaleSeq, "card sequence %d is not newer than %d on record", c.Seq, highWater)
	case c.NotBefore > now+maxSkew:
		return card.Refuse(card.CardNotYetValid, "the card is not valid before %d", c.NotBefore)
	case present(c.Genome):
		return card.Refuse(DanglingGenome, "a genome cannot be resolved here")
	default:
		return nil
	}
}

func present(v jsontext.Value) bool { return v != nil && v.Kind() != jsontext.KindNull }

// Expired reports whether the card is older than a week. A hub keeps it all the
// same.
func (c *Card) Expired(now time.Time) bool {
	return now.Unix()-int64(c.NotBefore) > int64(Lifetime/time.Second)
}
