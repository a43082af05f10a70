package vectors

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
)

// seed is how every deterministic test key is derived.
func seed(label string) []byte {
	sum := sha256.Sum256([]byte(label))
	return sum[:]
}

// Suite is the public test identity many vectors are signed by.
func Suite() (*identity.Controller, error) {
	return controller("anet-suite-identity-v1/cur", "anet-suite-identity-v1/nxt")
}

func controller(current, next string) (*identity.Controller, error) {
	seeds := io.MultiReader(bytes.NewReader(seed(current)), bytes.NewReader(seed(next)))
	return identity.NewController(seeds, time.Time{})
}

type suiteFile struct {
	Remarks
	Name       string `json:"name"`
	CurOf      string `json:"cur_seed_sha256_of"`
	NxtOf      string `json:"nxt_seed_sha256_of"`
	Cur        Hex    `json:"cur_seed_hex"`
	Nxt        Hex    `json:"nxt_seed_hex"`
	CurPub     Hex    `json:"cur_pub_hex"`
	NxtPub     Hex    `json:"nxt_pub_hex"`
	NextDigest Hex    `json:"next_digest_hex"`
	Preimage   Hex    `json:"icp_preimage_hex"`
	AID        string `json:"aid"`
	KEL        Hex    `json:"kel_hex"`
	KELCID     string `json:"kel_cid"`
}

// identitySuite pins an identity from its seeds to its key history.
func identitySuite(data []byte) ([]Vector, error) {
	var f suiteFile
	err := decode(data, &f)
	return []Vector{{f.Name, f.check}}, err
}

func (f suiteFile) check() error {
	c, err := controller(f.CurOf, f.NxtOf)
	if err != nil {
		return err
	}
	h, err := identity.Replay(f.KEL)
	if err != nil {
		return err
	}
	state, _ := h.State(0)
	digest := sha256.Sum256(f.NxtPub)
	return all(
		sameBytes("current seed", seed(f.CurOf), f.Cur),
		sameBytes("next seed", seed(f.NxtOf), f.Nxt),
		sameBytes("current key", state.Key, f.CurPub),
		sameBytes("next key", publicOf(f.Nxt), f.NxtPub),
		sameBytes("next digest", digest[:], f.NextDigest),
		same("AID of the inception", codec.CID(f.Preimage), f.AID),
		same("AID of the history", h.AID(), f.AID),
		same("AID made", c.AID(), f.AID),
		sameBytes("history made", c.KEL(), f.KEL),
		same("CID of the history", codec.CID(f.KEL), f.KELCID),
	)
}

func publicOf(seed []byte) []byte {
	if len(seed) != ed25519.SeedSize {
		return nil
	}
	return ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
}

type kelVector struct {
	Remarks
	Name      string `json:"name"`
	KEL       Hex    `json:"kel_hex"`
	Replays   bool   `json:"replays"`
	FinalKey  Hex    `json:"final_current_key_hex,omitzero"`
	Delegated *int   `json:"delegated_keys,omitzero"`
}

// kelReplays pins which key histories replay and which do not.
func kelReplays(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string      `json:"name"`
		Vectors []kelVector `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, v.check})
	}
	return vs, err
}

func (v kelVector) check() error {
	h, err := identity.Replay(v.KEL)
	if err != nil || !v.Replays {
		return all(outcome("the history", err, v.Replays),
			unread("of a history that does not replay", v.FinalKey != nil, v.Delegated != nil))
	}
	last, _ := h.State(uint64(h.Len() - 1))
	if v.FinalKey != nil {
		err = sameBytes("final key", last.Key, v.FinalKey)
	}
	if v.Delegated != nil {
		err = all(err, same("delegated keys", h.DelegatedKeys(), *v.Delegated))
	}
	return err
}

type supersedeFile struct {
	Remarks
	Name   string `json:"name"`
	AID    string `json:"aid"`
	KEL    Hex    `json:"kel_hex"`
	KELCID string `json:"kel_cid"`
	States []struct {
		Status       identity.Status `json:"status"`
		SupersededAt uint64          `json:"superseded_at"`
	} `json:"states"`
	Object string         `json:"object_utf8"`
	Sigs   map[string]Hex `json:"object_sig_hex"`
	Verify []struct {
		Remarks
		With    string `json:"signed_with"`
		Seq     uint64 `json:"declared_seq"`
		MsgTime uint64 `json:"msg_time"`
		Result  string `json:"result"`
	} `json:"verify"`
}

// kelSupersede pins when a signature by a retired key still counts.
func kelSupersede(data []byte) ([]Vector, error) {
	var f supersedeFile
	if err := decode(data, &f); err != nil {
		return nil, err
	}
	h, err := identity.Replay(f.KEL)
	if err != nil {
		return nil, err
	}
	vs := []Vector{{"history", func() error { return f.states(h) }}}
	for _, v := range f.Verify {
		name := fmt.Sprintf("%s seq %d at %d", v.With, v.Seq, v.MsgTime)
		vs = append(vs, Vector{name, func() error {
			err := identity.VerifyObject(h, f.AID, v.Seq, v.MsgTime, []byte(f.Object), f.Sigs[v.With])
			return same("result", result(err), v.Result)
		}})
	}
	return vs, nil
}

func (f supersedeFile) states(h *identity.History) error {
	errs := []error{
		same("AID", h.AID(), f.AID),
		same("CID of the history", codec.CID(f.KEL), f.KELCID),
		same("number of states", h.Len(), len(f.States)),
	}
	for i, want := range f.States {
		got, _ := h.State(uint64(i))
		errs = append(errs,
			same(fmt.Sprintf("status %d", i), got.Status, want.Status),
			same(fmt.Sprintf("superseded_at %d", i), got.SupersededAt, want.SupersededAt))
	}
	for by, sig := range f.Sigs {
		if !signedBySome(h, []byte(f.Object), sig) {
			errs = append(errs, errors.New("the signature of "+by+" is by no key of the history"))
		}
	}
	return all(errs...)
}

// signedBySome reports whether any key of the history made the signature.
func signedBySome(h *identity.History, object, sig []byte) bool {
	for i := range uint64(h.Len()) {
		if identity.Plausible(h.Raw(), i, object, sig) {
			return true
		}
	}
	return false
}

// result is how a file writes the outcome of a verification.
func result(err error) string {
	switch code := identity.CodeOf(err); {
	case err == nil:
		return "ok"
	case code != "":
		return string(code)
	default:
		return err.Error()
	}
}
