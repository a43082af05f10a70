package vectors

import (
	"crypto/hpke"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
)

type sealedFile struct {
	Remarks
	Name      string `json:"name"`
	Now       int64  `json:"now_ms"`
	Recipient string `json:"recipient_aid"`
	IKM       string `json:"recipient_ikm_sha256_of"`
	Pub       Hex    `json:"recipient_pub_hex"`
	KID       Hex    `json:"recipient_kid_hex"`
	PrivNote  string `json:"recipient_priv_note,omitzero"`
	Sender    string `json:"sender"`
	Info      Hex    `json:"hpke_info_hex"`
	AAD       Hex    `json:"hpke_aad_hex"`
	Preimage  Hex    `json:"sig_preimage_hex"`
	Envelope  Hex    `json:"envelope_hex"`
	Inner     Hex    `json:"inner_plaintext_hex"`
	Unpadded  int    `json:"unpadded_inner_len"`
	Padded    int    `json:"inner_len"`
	Expect    struct {
		From string `json:"from"`
		KSN  uint64 `json:"key_state_seq"`
		Type string `json:"type"`
		Ix   string `json:"ix"`
		MID  Hex    `json:"mid_hex"`
		TS   uint64 `json:"ts"`
		Exp  uint64 `json:"exp"`
		Body string `json:"body_utf8"`
	} `json:"expect"`
}

// sealed pins the opening side of section E.
func sealed(data []byte) ([]Vector, error) {
	var f sealedFile
	err := decode(data, &f)
	return []Vector{
		{f.Name + " key", f.key},
		{f.Name + " opens", f.opens},
		{f.Name + " plaintext", f.plaintext},
		{f.Name + " verifies", f.verifies},
	}, err
}

// Private makes the file a ring of one key.
func (f sealedFile) Private(kid envelope.KID) (hpke.PrivateKey, bool) {
	k, err := sealingKey(f.IKM)
	return k, err == nil && string(kid[:]) == string(f.KID)
}

func (f sealedFile) key() error {
	private, err := sealingKey(f.IKM)
	if err != nil {
		return err
	}
	kid := enckeys.NewKID(envelope.SuiteX25519, f.Pub)
	return all(
		sameBytes("public key", private.PublicKey().Bytes(), f.Pub),
		sameBytes("key id", kid[:], f.KID),
	)
}

func (f sealedFile) opens() error {
	m, err := envelope.Open(f.Envelope, f.Recipient, f)
	if err != nil {
		return err
	}
	return all(
		sameBytes("signed preimage", m.Preimage(), f.Preimage),
		same("from", m.From, f.Expect.From),
		same("key state", m.KSN, f.Expect.KSN),
		same("to", m.To, f.Recipient),
		same("type", m.Type, f.Expect.Type),
		same("task", m.Ix, f.Expect.Ix),
		sameBytes("message id", m.MID[:], f.Expect.MID),
		same("ts", m.TS, f.Expect.TS),
		same("exp", m.Exp, f.Expect.Exp),
		same("body", string(m.Body), f.Expect.Body),
	)
}

// plaintext opens the ciphertext with the info the file states.
func (f sealedFile) plaintext() error {
	o, err := envelope.ParseOuter(f.Envelope)
	if err != nil {
		return err
	}
	private, err := sealingKey(f.IKM)
	if err != nil {
		return err
	}
	plain, err := hpkeOpen(private, o.Enc, f.Info, f.AAD, o.CT)
	if err != nil {
		return err
	}
	bare, err := withoutPad(plain)
	return all(err,
		sameBytes("plaintext", plain, f.Inner),
		sameBytes("envelope written again", o.Bytes(), f.Envelope),
		same("padded length", len(plain), f.Padded),
		same("length before padding", bare, f.Unpadded),
		same("Padmé length", envelope.Padme(uint64(bare)), uint64(f.Padded)),
	)
}

// withoutPad is the length of an inner map with its padding empty.
func withoutPad(plain []byte) (int, error) {
	var m map[uint64]codec.RawMessage
	if err := codec.Unmarshal(plain, &m); err != nil {
		return 0, err
	}
	m[21] = codec.RawMessage{0x40}
	b, err := codec.Marshal(m)
	return len(b), err
}

func (f sealedFile) verifies() error {
	m, err := envelope.Open(f.Envelope, f.Recipient, f)
	if err != nil {
		return err
	}
	sender, err := Suite()
	if err != nil {
		return err
	}
	h, err := m.Replay(identity.Replay)
	if err != nil {
		return err
	}
	now := time.UnixMilli(f.Now)
	_, err = enckeys.Verify(m.Keys, m.From, m.KEL, identity.Replay, now)
	return all(err,
		m.CheckTime(now),
		m.VerifyInnerSig(h, now, envelope.DefaultGrace),
		same("sender", f.Sender, "suite identity"),
		same("sender's AID", m.From, sender.AID()),
	)
}

// padme pins section E.6.
func padme(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name        string      `json:"name"`
		Table       [][2]uint64 `json:"table"`
		Unreachable []int       `json:"unreachable_pad_growth"`
		Int64       struct {
			Remarks
			Top string `json:"top"`
		} `json:"int64"`
	}
	err := decode(data, &f)
	vs := []Vector{
		{"growth", func() error { return growth(f.Unreachable) }},
		{"overflow", func() error { return overflow(f.Int64.Top) }},
	}
	for _, v := range f.Table {
		vs = append(vs, Vector{fmt.Sprintf("length %d", v[0]), func() error {
			return same("padded", envelope.Padme(v[0]), v[1])
		}})
	}
	return vs, err
}

// growth lists by how much a byte string cannot grow when it is filled.
func growth(unreachable []int) error {
	if len(unreachable) == 0 {
		return errors.New("no length is named")
	}
	end := slices.Max(unreachable) + 1
	reached := map[int]bool{}
	for n := range end {
		reached[len(codec.AppendHead(nil, 2, uint64(n)))-1+n] = true
	}
	var missing []int
	for n := range end {
		if !reached[n] {
			missing = append(missing, n)
		}
	}
	return same("lengths out of reach", fmt.Sprint(missing), fmt.Sprint(unreachable))
}

func overflow(top string) error {
	n, err := strconv.ParseUint(top, 10, 63)
	if err != nil {
		return err
	}
	return all(
		same("largest padded length", envelope.Padme(n), n),
		same("one byte more", envelope.Padme(n+1), n+1),
		same("one byte less", envelope.Padme(n-1), n),
	)
}

// hpkeBase pins the suite on the vector of RFC 9180.
func hpkeBase(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name string `json:"name"`
		KEM  uint16 `json:"kem_id"`
		KDF  uint16 `json:"kdf_id"`
		AEAD uint16 `json:"aead_id"`
		Mode int    `json:"mode"`
		Info Hex    `json:"info"`
		IKM  Hex    `json:"ikmR"`
		Pub  Hex    `json:"pkRm"`
		Enc  Hex    `json:"enc"`
		AAD  Hex    `json:"aad"`
		CT   Hex    `json:"ct"`
		PT   Hex    `json:"pt"`
	}
	err := decode(data, &f)
	return []Vector{{f.Name, func() error {
		private, err := envelope.KEM().DeriveKeyPair(f.IKM)
		if err != nil {
			return err
		}
		plain, err := hpkeOpen(private, f.Enc, f.Info, f.AAD, f.CT)
		return all(err,
			same("KEM", f.KEM, envelope.KEM().ID()),
			same("KDF", f.KDF, hpke.HKDFSHA256().ID()),
			same("AEAD", f.AEAD, hpke.ChaCha20Poly1305().ID()),
			same("mode", f.Mode, 0),
			sameBytes("public key", private.PublicKey().Bytes(), f.Pub),
			sameBytes("plaintext", plain, f.PT),
		)
	}}}, err
}

func hpkeOpen(k hpke.PrivateKey, enc, info, aad, ct []byte) ([]byte, error) {
	r, err := hpke.NewRecipient(enc, k, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info)
	if err != nil {
		return nil, err
	}
	plain, err := r.Open(aad, ct)
	if err != nil {
		return nil, errors.New("the ciphertext does not open")
	}
	return plain, nil
}
