package envelope

import (
	"crypto/hpke"
	"crypto/rand"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/identity"
)

var now = time.UnixMilli(1_767_225_600_000)

// oneKey is a ring of one.
type oneKey struct {
	kid     KID
	private hpke.PrivateKey
}

func (o oneKey) Private(kid KID) (hpke.PrivateKey, bool) { return o.private, kid == o.kid }

func (o oneKey) key() Key { return Key{o.kid, SuiteX25519, o.private.PublicKey().Bytes()} }

func newKey(t testing.TB) oneKey {
	t.Helper()
	k, err := KEM().GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return oneKey{KID(k.PublicKey().Bytes()[:16]), k}
}

func agent(t testing.TB) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, now.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func draft(to string) Draft {
	return Draft{
		To: to, Type: "anet.message/1", Ix: "ix_1", MID: NewMID(), TS: ms(now), Exp: ms(now.Add(Lifetime)),
		Body: []byte("hello"), Keys: []byte{0xa0}, Extensions: map[uint64][]byte{64: {0xf5}, 1000: {0x83, 1, 2, 3}},
	}
}
