package directory

import (
	"crypto/sha256"
	"unicode/utf8"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Longest texts of a registration, in bytes.
const (
	maxName    = 128
	maxSummary = 512
	maxPricing = 1 << 10
	maxReadme  = 16 << 10
)

// Application is a registration as it was asked for, within its bounds. Nothing
// in it is verified yet but the signature over the whole.
type Application struct {
	AID      string
	Name     string
	Tags     []string // the caps that can be kept
	Ignored  []string // those that cannot
	Profile  Profile
	KEL      []byte
	Invite   admission.Token // zero when absent
	Keyset   []byte          // empty when absent
	Card     []byte          // the network card; empty when absent or withdrawn
	Withdraw bool            // the network card is null
	ADP      []byte          // the older card; empty when absent
	Body     BodyHash
}

// BodyHash names the body of a registration.
type BodyHash [sha256.Size]byte

// NewApplication holds a registration to who signed it and to its bounds (wire
// 2, I.3, steps 3 to 5). Ids that cannot be kept don't fail it; they are named
// in the answer.
func NewApplication(r wire.Register, signer string, body BodyHash) (Application, error) {
	if err := checkSigner(r, signer); err != nil {
		return Application{}, err
	}
	if err := checkBounds(r); err != nil {
		return Application{}, err
	}
	a := Application{
		AID: r.AID, Name: r.Name, KEL: r.KEL, Keyset: r.EncKeys, Body: body,
		Invite:  admission.ReadToken(r.Invite),
		Profile: Profile{Summary: r.Summary, Readme: r.Readme, Pricing: r.Pricing},
	}
	a.Tags, a.Ignored = capability.Keep(r.Caps)
	if a.Withdraw = string(r.A2ACard) == "null"; !a.Withdraw {
		a.Card = r.A2ACard
	}
	if string(r.Card) != "null" {
		a.ADP = r.Card
	}
	return a, nil
}

func checkSigner(r wire.Register, signer string) error {
	switch {
	case r.AID == "":
		return errs.New(errs.Invalid, "aid_missing", "aid is missing").In("aid")
	case !identity.ValidAID(r.AID):
		return errs.New(errs.Invalid, "aid_malformed", "aid is no agent id").In("aid")
	case len(r.KEL) == 0:
		return errs.New(errs.Invalid, "kel_missing", "kel is missing").In("kel")
	case r.AID != signer:
		return errs.New(errs.Unauthorized, "not_the_owner", "the signer is not the agent that is registered").In("aid")
	}
	return nil
}

func checkBounds(r wire.Register) error {
	if err := checkCaps(r.Caps); err != nil {
		return err
	}
	if len(r.KEL) > identity.MaxKELBytes {
		return errs.New(errs.Invalid, "kel_too_large", "kel has more than %d bytes", identity.MaxKELBytes).In("kel")
	}
	if aid, err := identity.Claimed(r.KEL); err != nil || aid != r.AID {
		return errs.New(errs.Invalid, "kel_invalid", "kel is no key history of this AID").In("kel").Because(err)
	}
	if err := checkText("name", r.Name, maxName); err != nil {
		return err
	}
	return Profile{Summary: r.Summary, Readme: r.Readme, Pricing: r.Pricing}.Check()
}

func checkCaps(caps []string) error {
	if len(caps) > wire.MaxCaps {
		return errs.New(errs.Invalid, "too_many_caps", "caps holds %d ids, more than the %d allowed", len(caps), wire.MaxCaps).In("caps")
	}
	for _, c := range caps {
		if err := checkText("caps", c, wire.MaxCapBytes); err != nil {
			return err
		}
	}
	return nil
}

// Check holds a profile to its bounds.
func (p Profile) Check() error {
	if err := checkText("summary", p.Summary, maxSummary); err != nil {
		return err
	}
	if err := checkText("readme", p.Readme, maxReadme); err != nil {
		return err
	}
	return checkText("pricing", p.Pricing, maxPricing)
}

// storable reports whether text of a card can be a key of an index.
func storable(s string) bool {
	return s != "" && len(s) <= capability.MaxLen && utf8.ValidString(s) && !hasZero(s)
}
