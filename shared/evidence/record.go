package evidence

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// versionMajor is the only version of records there is.
const versionMajor = 2

// genesis is what the first record of every chain follows.
var genesis = genesisID()

func genesisID() string {
	b, err := codec.Marshal("anet:ael:genesis")
	if err != nil {
		panic(err) // a constant text encodes
	}
	return codec.CID(b)
}

// Entry is the signed part of a record (section B.3).
type Entry struct {
	Chain     string           `cbor:"1,keyasint"`
	Seq       uint64           `cbor:"2,keyasint"` // from 1
	Prev      string           `cbor:"3,keyasint"`
	Type      string           `cbor:"4,keyasint"`
	Version   uint64           `cbor:"5,keyasint"`
	Payload   codec.RawMessage `cbor:"6,keyasint"`
	Timestamp uint64           `cbor:"7,keyasint"` // ms
	Signer    string           `cbor:"8,keyasint"`
	KeySeq    uint64           `cbor:"9,keyasint"`
	Critical  codec.RawMessage `cbor:"10,keyasint,omitempty"`
}

// Record is one link of an append-only chain. Minor and Corr are not signed.
type Record struct {
	Entry
	ID    string `cbor:"11,keyasint"`
	Sig   []byte `cbor:"12,keyasint"`
	Minor uint64 `cbor:"13,keyasint"`
	Corr  string `cbor:"14,keyasint"`
}

// Head is where a chain ends. The zero value is a chain without records.
type Head struct {
	Chain string
	Seq   uint64
	ID    string
}

// Append signs the record that follows head. The chain of a signer is named
// by its AID.
func Append(c *identity.Controller, head Head, kind string, payload any, now time.Time) (Record, error) {
	raw, err := codec.Marshal(payload)
	if err != nil {
		return Record{}, err
	}
	prev := head.ID
	if head.Seq == 0 {
		prev = genesis
	}
	e := Entry{
		Chain: c.AID(), Seq: head.Seq + 1, Prev: prev, Type: kind, Version: versionMajor, Payload: raw,
		Timestamp: uint64(now.UnixMilli()), Signer: c.AID(), KeySeq: c.Seq(),
	}
	preimage, err := e.preimage()
	if err != nil {
		return Record{}, err
	}
	return Record{Entry: e, ID: codec.CID(preimage), Sig: c.Sign(preimage)}, nil
}

// Encode is the record as it is kept and served.
func (r Record) Encode() ([]byte, error) { return codec.Marshal(r) }

// ParseRecord reads one record; its chain is not verified yet.
func ParseRecord(wire []byte) (r Record, err error) {
	if err := codec.Unmarshal(wire, &r); err != nil {
		return r, fmt.Errorf("record: %w", err)
	}
	if len(r.Payload) == 0 {
		return r, errors.New("record: without a payload")
	}
	if slices.Contains(empty, string(r.Critical)) {
		r.Critical = nil
	}
	return r, nil
}

// empty are the ways to write nothing; what is empty is no part of a preimage.
var empty = []string{"\xf6", "\x40", "\x60", "\x80", "\xa0"}

// Head is the end of the chain after this record.
func (r Record) Head() Head { return Head{r.Chain, r.Seq, r.ID} }

// preimage is the canonical encoding of members 1 to 10.
func (e Entry) preimage() ([]byte, error) {
	raw, err := codec.Marshal(e)
	if err != nil {
		return nil, err
	}
	return codec.Canonical(raw) // the payload came as somebody wrote it
}

// VerifyChain checks that records continue the chain ending at from, the zero
// Head for its beginning, and returns the new end. It cannot tell whether
// records were cut off behind it.
func VerifyChain(from Head, records []Record, history func(aid string) (*identity.History, error)) (Head, error) {
	for _, r := range records {
		if err := r.follows(from); err != nil {
			return from, fmt.Errorf("record %d: %w", r.Seq, err)
		}
		if err := r.verify(history); err != nil {
			return from, fmt.Errorf("record %d: %w", r.Seq, err)
		}
		from = r.Head()
	}
	return from, nil
}

func (r Record) follows(h Head) error {
	if h.Seq == 0 {
		h = Head{r.Chain, 0, genesis}
	}
	switch {
	case r.Chain != h.Chain:
		return errors.New("belongs to another chain")
	case r.Seq != h.Seq+1:
		return fmt.Errorf("follows %d", h.Seq)
	case r.Prev != h.ID:
		return errors.New("does not link to the record before")
	case r.Version != versionMajor:
		return fmt.Errorf("version %d, want %d", r.Version, versionMajor)
	}
	return nil
}

func (r Record) verify(history func(string) (*identity.History, error)) error {
	preimage, err := r.preimage()
	if err != nil {
		return err
	}
	if codec.CID(preimage) != r.ID {
		return errors.New("its id is not that of its content")
	}
	h, err := history(r.Signer)
	if err != nil {
		return err
	}
	return identity.VerifyObject(h, r.Signer, r.KeySeq, r.Timestamp, preimage, r.Sig)
}
