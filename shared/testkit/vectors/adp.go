package vectors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/identity"
)

// wire1File is the frame of the vectors of wire 1.
type wire1File struct {
	Remarks
	Format     string                   `json:"format"`
	Name       string                   `json:"name"`
	About      string                   `json:"about"`
	Identities map[string]wire1Identity `json:"identities"`
	Cases      []struct {
		Remarks
		ID  string         `json:"id"`
		Op  string         `json:"op"`
		In  jsontext.Value `json:"in"`
		Out jsontext.Value `json:"out"`
	} `json:"cases"`
}

type wire1Identity struct {
	AID  string `json:"aid"`
	Cur  Hex    `json:"cur_seed_hex"`
	Next Hex    `json:"next_seed_hex"`
	File Hex    `json:"identity_file_hex"`
	KEL  Hex    `json:"kel_hex"`
}

// directoryCard pins the older signed directory card, section H.6.
func directoryCard(data []byte) ([]Vector, error) {
	var f wire1File
	if err := decode(data, &f); err != nil {
		return nil, err
	}
	vs := []Vector{{"format", func() error { return same("format", f.Format, "wire1-vectors/1") }}}
	for name, who := range f.Identities {
		vs = append(vs, Vector{"identity " + name, who.check})
	}
	for _, c := range f.Cases {
		check, err := f.cardCase(c.Op, c.In, c.Out)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
		vs = append(vs, Vector{c.ID, check})
	}
	return vs, nil
}

func (f wire1File) cardCase(op string, in, out jsontext.Value) (func() error, error) {
	switch op {
	case "card.sign":
		var c signCase
		err := all(decode(in, &c.in), decode(out, &c.out))
		return func() error { return c.check(f.Identities) }, err
	case "card.admit":
		var c admitCase
		err := all(decode(in, &c.in), decode(out, &c.out))
		return c.check, err
	default:
		return nil, fmt.Errorf("no check for the operation %q", op)
	}
}

func (w wire1Identity) check() error {
	c, err := identity.LoadController(w.File)
	if err != nil {
		return err
	}
	again, err := identity.NewController(bytes.NewReader(append(w.Cur[:len(w.Cur):len(w.Cur)], w.Next...)), time.Time{})
	return all(err,
		same("AID", c.AID(), w.AID),
		sameBytes("history", c.KEL(), w.KEL),
		sameBytes("history from the seeds", again.KEL(), w.KEL))
}

type signCase struct {
	in struct {
		Card string `json:"card_json"`
		Seed Hex    `json:"cur_seed_hex"`
	}
	out struct {
		CID      string `json:"card_cid"`
		Sig      string `json:"envelope_sig"`
		Preimage Hex    `json:"jcs_preimage_hex"`
		Text     string `json:"jcs_preimage_utf8"`
		Input    string `json:"signing_input_utf8"`
	}
}

func (c signCase) check(known map[string]wire1Identity) error {
	signer, err := bySeed(known, c.in.Seed)
	if err != nil {
		return err
	}
	read, err := adp.Read([]byte(c.in.Card))
	if err != nil {
		return err
	}
	preimage, err := read.Preimage()
	if err != nil {
		return err
	}
	before := read.Envelope
	sum := sha256.Sum256(preimage)
	return all(
		read.Sign(signer),
		same("envelope", read.Envelope, before),
		same("signature", read.Envelope.Sig, c.out.Sig),
		same("preimage", string(preimage), c.out.Text),
		sameBytes("preimage", preimage, c.out.Preimage),
		same("signing input", string(adp.SigningInput(preimage)), c.out.Input),
		same("card id", "cog:1220"+hex.EncodeToString(sum[:]), c.out.CID),
	)
}

func bySeed(known map[string]wire1Identity, seed []byte) (*identity.Controller, error) {
	for _, w := range known {
		if bytes.Equal(w.Cur, seed) {
			return identity.LoadController(w.File)
		}
	}
	return nil, fmt.Errorf("no identity has the seed %x", seed)
}

type admitCase struct {
	in struct {
		Card      string `json:"card_json"`
		HighWater uint64 `json:"high_water"`
		KEL       Hex    `json:"kel_hex"`
		Now       int64  `json:"now_unix"`
	}
	out struct {
		OK          bool      `json:"ok"`
		Reason      card.Code `json:"reason,omitzero"`
		Disposition string    `json:"disposition,omitzero"`
		PeerOK      bool      `json:"peer_ok,omitzero"` // what the reference wrongly answers
	}
}

func (c admitCase) check() error {
	h, err := identity.Replay(c.in.KEL)
	if err != nil {
		return err
	}
	now := time.Unix(c.in.Now, 0)
	got, err := adp.Admit([]byte(c.in.Card), h, c.in.HighWater, now)
	if err != nil {
		return all(same("admitted", false, c.out.OK), same("reason", card.CodeOf(err), c.out.Reason))
	}
	disposition := "PUBLISHED"
	if got.Expired(now) {
		disposition = "EXPIRED"
	}
	return all(same("admitted", true, c.out.OK), same("disposition", disposition, c.out.Disposition))
}
