package vectors

import (
	"crypto/hpke"
	"fmt"
	"regexp"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
)

type keySetFile struct {
	Remarks
	Name   string `json:"name"`
	IKM    string `json:"enc_ikm_sha256_of"`
	Pub    Hex    `json:"pub_hex"`
	KID    Hex    `json:"kid_hex"`
	Set    Hex    `json:"set_hex"`
	Signed Hex    `json:"signed_hex"`
	Cases  []struct {
		Remarks
		Now    int64  `json:"now_ms"`
		Verify string `json:"verify"`
		Why    string `json:"why,omitzero"`
	} `json:"cases"`
	Select []struct {
		Remarks
		Now int64  `json:"now_ms"`
		KID string `json:"kid"`
	} `json:"select_key"`
}

// encKeySet pins section D on a set of the suite identity.
func encKeySet(data []byte) ([]Vector, error) {
	var f keySetFile
	if err := decode(data, &f); err != nil {
		return nil, err
	}
	owner, err := Suite()
	if err != nil {
		return nil, err
	}
	vs := []Vector{{f.Name, func() error { return f.check(owner) }}}
	for _, c := range f.Cases {
		vs = append(vs, Vector{fmt.Sprintf("verify at %d", c.Now), func() error {
			_, err := enckeys.Verify(f.Signed, owner.AID(), owner.KEL(), identity.Replay, time.UnixMilli(c.Now))
			return same("outcome", reason(err), c.Verify)
		}})
	}
	for _, c := range f.Select {
		vs = append(vs, Vector{fmt.Sprintf("choose at %d", c.Now), func() error {
			s, err := enckeys.Parse(f.Signed)
			if err != nil {
				return err
			}
			return f.chosen(s.Set.Keys, time.UnixMilli(c.Now), c.KID)
		}})
	}
	return vs, nil
}

func (f keySetFile) check(owner *identity.Controller) error {
	private, err := sealingKey(f.IKM)
	if err != nil {
		return err
	}
	s, err := enckeys.Parse(f.Signed)
	if err != nil {
		return err
	}
	kid := enckeys.NewKID(envelope.SuiteX25519, f.Pub)
	set, err := codec.Marshal(s.Set)
	return all(err,
		sameBytes("public key", private.PublicKey().Bytes(), f.Pub),
		sameBytes("key id", kid[:], f.KID),
		sameBytes("set", set, f.Set),
		sameBytes("signed bytes", s.Bytes, f.Set),
		sameBytes("signature", owner.Sign(f.Set), s.Sig),
		same("key state", s.KSN, owner.Seq()),
		same("owner", s.Set.AID, owner.AID()),
		same("number of keys", len(s.Set.Keys), 1),
	)
}

// theKey may say in brackets why it is chosen.
var theKey = regexp.MustCompile(`^the key( \([^()]*\))?$`)

func (f keySetFile) chosen(keys []enckeys.Key, now time.Time, want string) error {
	k, err := enckeys.Choose(keys, now)
	if !theKey.MatchString(want) {
		return same("choice", reason(err), want)
	}
	return all(err, sameBytes("chosen key", k.KID[:], f.KID))
}

// sealingKey is the private half of a test key, by its label.
func sealingKey(label string) (hpke.PrivateKey, error) {
	return envelope.KEM().DeriveKeyPair(seed(label))
}

// reason is how a file writes the outcome of a step of sections D and E.
func reason(err error) string {
	if err == nil {
		return "ok"
	}
	return string(envelope.ReasonOf(err))
}
