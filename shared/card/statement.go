package card

import (
	"crypto/sha256"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/shared/codec"
)

// MaxSkew is how far, in ms, a card may be ahead of its reader's clock.
const MaxSkew = 300_000

// Stamp orders the cards of one AID. Sequence and times are below 2^63, so that
// a database can hold them.
type Stamp struct {
	Seq       int64
	IssuedAt  int64 // unix ms
	NotBefore int64 // unix ms
}

// NextStamp is the stamp of a card made now, after one of sequence last (0 for
// none).
func NextStamp(last int64, now time.Time) (Stamp, error) {
	if last == math.MaxInt64 {
		return Stamp{}, Refuse(NotPublishForm, "no card sequence is left after %d", last)
	}
	ms := now.UnixMilli()
	return Stamp{Seq: max(now.Unix(), last+1), IssuedAt: ms, NotBefore: ms - 60_000}, nil
}

// Statement is what a card claims, before anybody has checked who signed it.
type Statement struct {
	Card Card
	AID  string
	Stamp
	Payload     []byte            // the primary form of what is signed
	PayloadHash [sha256.Size]byte // names the statement, however it is spelled

	tree       map[string]any // the card without signatures
	signatures []any
}

// Read checks everything about a card but its time and its signatures, in the
// order of section H.4.
func Read(raw []byte) (*Statement, error) {
	s, canon, err := open(raw)
	if err != nil {
		return nil, err
	}
	if err := agentCard.typed("", s.tree); err != nil {
		return nil, err
	}
	return s, s.readCard(canon)
}

// open takes a card apart into what is signed and the signatures.
func open(raw []byte) (s *Statement, canon []byte, err error) {
	s = &Statement{}
	if s.tree, canon, err = parse(raw); err != nil {
		return nil, nil, err
	}
	if s.signatures, err = takeSignatures(s.tree); err != nil {
		return nil, nil, err
	}
	if s.Payload, err = stripped(s.tree); err != nil {
		return nil, nil, Refuse(MalformedJSON, "the card has no canonical form").Because(err)
	}
	s.PayloadHash = sha256.Sum256(s.Payload)
	return s, canon, nil
}

// parse reads a strict I-JSON object; canon is its canonical form.
func parse(raw []byte) (tree map[string]any, canon []byte, err error) {
	if len(raw) > MaxBytes {
		return nil, nil, Refuse(CardTooLarge, "the card has more than %d bytes", MaxBytes)
	}
	canon, twins, err := codec.CanonicalDistinct(raw)
	if err != nil {
		return nil, nil, Refuse(MalformedJSON, "the card is no strict JSON").Because(err)
	}
	if canon[0] != '{' {
		return nil, nil, Refuse(MalformedJSON, "the card is no JSON object")
	}
	if twins != nil {
		return nil, nil, Refuse(InvalidCard, "two names of one object differ in case only").Because(twins)
	}
	if err := json.Unmarshal(canon, &tree); err != nil {
		return nil, nil, Refuse(MalformedJSON, "the card is no strict JSON").Because(err)
	}
	return tree, canon, nil
}

// takeSignatures takes the signatures off the card. What each of them holds is
// looked at when its turn comes: a broken one beside a good one does no harm.
func takeSignatures(tree map[string]any) ([]any, error) {
	v := tree["signatures"]
	delete(tree, "signatures")
	signatures, ok := v.([]any)
	switch {
	case v == nil || ok && len(signatures) == 0:
		return nil, Refuse(Unsigned, "the card has no signatures")
	case !ok:
		return nil, Refuse(InvalidCard, "signatures is no array")
	case len(signatures) > MaxSignatures:
		return nil, Refuse(CardTooLarge, "the card has more than %d signatures", MaxSignatures)
	}
	return signatures, nil
}

func (s *Statement) readCard(canon []byte) error {
	if err := json.Unmarshal(canon, &s.Card); err != nil {
		return Refuse(InvalidCard, "the card does not fit its schema").Because(err)
	}
	if err := s.Card.check(); err != nil {
		return err
	}
	if err := s.readIdentity(); err != nil {
		return err
	}
	for i, n := range s.Card.Interfaces {
		if n.ProtocolBinding == RelayBinding && n.Tenant != s.AID {
			return Refuse(BindingMismatch, "supportedInterfaces[%d] relays to another tenant than the card's aid", i)
		}
	}
	return nil
}

// identityParams are the params of the anet-card extension. Numbers are decimal
// strings there: SDKs print JSON numbers differently.
type identityParams struct {
	AID       string `json:"aid"`
	Seq       string `json:"seq"`
	IssuedAt  string `json:"issuedAt"`
	NotBefore string `json:"notBefore"`
}

func (s *Statement) readIdentity() error {
	var found []Extension
	for _, e := range s.Card.Capabilities.Extensions {
		if e.URI == ExtCard {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return Refuse(InvalidCard, "the card has %d anet-card extensions, not one", len(found))
	}
	var p identityParams
	if err := json.Unmarshal(found[0].Params, &p); err != nil {
		return Refuse(InvalidCard, "the params of anet-card are no object of strings").Because(err)
	}
	return s.setIdentity(p)
}

func (s *Statement) setIdentity(p identityParams) error {
	if !plausibleAID(p.AID) {
		return Refuse(InvalidCard, "the aid in anet-card has the wrong form")
	}
	s.AID = p.AID
	for _, n := range []struct {
		name, text string
		to         *int64
	}{{"seq", p.Seq, &s.Seq}, {"issuedAt", p.IssuedAt, &s.IssuedAt}, {"notBefore", p.NotBefore, &s.NotBefore}} {
		v, ok := decimal(n.text)
		if !ok {
			return Refuse(InvalidCard, "%s in anet-card is no canonical decimal below 2^63", n.name)
		}
		*n.to = v
	}
	return nil
}

// plausibleAID is the syntax of section H.3; a KEL decides what is an AID.
func plausibleAID(s string) bool {
	return len(s) >= 1 && len(s) <= 128 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// decimal reads a number that has exactly one spelling.
func decimal(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == s
}
