package vectors

import (
	"fmt"
	"strings"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
)

type evidenceVector struct {
	Remarks
	Name     string `json:"name"`
	Preimage Hex    `json:"preimage_hex,omitzero"`
	CID      string `json:"cid,omitzero"`
	Sig      Hex    `json:"sig_hex,omitzero"`
	Wire     Hex    `json:"wire_hex,omitzero"`
	WireCID  string `json:"wire_cid,omitzero"`
}

// evidenceObjects pins receipts and reviews, section B.2.
func evidenceObjects(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string           `json:"name"`
		Vectors []evidenceVector `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, v.check})
	}
	return vs, err
}

// check tells the kinds of object apart by the vector's name, as the file does.
func (v evidenceVector) check() error {
	switch {
	case v.Wire != nil:
		return v.receiptWire()
	case v.Sig != nil || v.WireCID != "":
		return unread("beside a preimage", true)
	case strings.HasPrefix(v.Name, "VEC-RECEIPT"):
		return reencodes[evidence.Receipt](v.Preimage, v.CID)
	case strings.HasPrefix(v.Name, "VEC-REVIEW"):
		return reencodes[evidence.Review](v.Preimage, v.CID)
	default:
		return fmt.Errorf("%q names no kind of object", v.Name)
	}
}

// receiptWire signs the same receipt again and verifies the one given.
func (v evidenceVector) receiptWire() error {
	suite, err := Suite()
	if err != nil {
		return err
	}
	r, err := evidence.ParseReceipt(v.Wire)
	if err != nil {
		return err
	}
	ours, _, err := evidence.SignReceipt(suite, r.Receipt)
	return all(err,
		r.Verify(suite.History()),
		sameBytes("signature", r.Env.Sig, v.Sig),
		sameBytes("signed again", ours, v.Wire),
		same("CID as it travels", codec.CID(v.Wire), v.WireCID),
		unread("beside an object as it travels", v.Preimage != nil, v.CID != ""),
	)
}

// reencodes checks that a preimage survives its Go shape, and its id.
func reencodes[T any](preimage []byte, id string) error {
	var v T
	if err := codec.Unmarshal(preimage, &v); err != nil {
		return err
	}
	again, err := codec.Marshal(v)
	return all(err,
		sameBytes("encoded again", again, preimage),
		same("id", codec.CID(again), id),
	)
}

// bySuite checks an object as it travels: its preimage, its id, that the suite
// identity signed it, and that signing again gives the same bytes.
func bySuite[T any](wire, preimage []byte, id string, msgTime uint64) error {
	suite, err := Suite()
	if err != nil {
		return err
	}
	var body T
	s, err := identity.ParseSignedAs(wire, &body)
	if err != nil {
		return err
	}
	ours, _, err := identity.SignObject(suite, body)
	return all(err,
		s.Verify(suite.History(), msgTime),
		sameBytes("preimage", s.Preimage(), preimage),
		same("id", s.ID(), id),
		sameBytes("signed again", ours, wire),
	)
}
