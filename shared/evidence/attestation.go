package evidence

import "github.com/anet-hub/anet/shared/identity"

// Attestation is a witness's word that a chain had a head (section B.4).
type Attestation struct {
	Chain      string `cbor:"1,keyasint"`
	Seq        uint64 `cbor:"2,keyasint"`
	HeadID     string `cbor:"3,keyasint"`
	ObservedAt uint64 `cbor:"4,keyasint"` // ms
}

// SignedAttestation is an attestation as it travels; the signer is the witness.
type SignedAttestation struct {
	Attestation
	identity.Signed
}

// Attest signs what the witness saw. A chain is not witnessed by itself, nor
// before it has a record.
func Attest(c *identity.Controller, a Attestation) (wire []byte, id string, err error) {
	if err := a.admissible(c.AID()); err != nil {
		return nil, "", err
	}
	return identity.SignObject(c, a)
}

// ParseAttestation reads an attestation; it is not verified yet.
func ParseAttestation(wire []byte) (a SignedAttestation, err error) {
	a.Signed, err = identity.ParseSignedAs(wire, &a.Attestation)
	return a, err
}

// Verify accepts an attestation about the chain asked for, by its signer.
func (a SignedAttestation) Verify(chain string, witness *identity.History) error {
	if a.Chain != chain {
		return refuse("attestation_other_chain", "the attestation is about another chain")
	}
	if err := a.admissible(a.Env.Signer); err != nil {
		return err
	}
	if err := a.Signed.Verify(witness, a.ObservedAt); err != nil {
		return refuse("attestation_bad_signature", "the attestation's signature does not verify").Because(err)
	}
	return nil
}

func (a Attestation) admissible(witness string) error {
	switch {
	case witness == a.Chain:
		return refuse("attestation_own_chain", "a chain cannot be witnessed by its own signer")
	case a.Seq == 0:
		return refuse("attestation_empty_chain", "a chain without records cannot be witnessed")
	}
	return nil
}
