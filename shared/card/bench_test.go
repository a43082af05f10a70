package card

import (
	"context"
	"testing"

	"github.com/anet-hub/anet/shared/identity"
)

func BenchmarkVerify(b *testing.B) {
	c := suite(b)
	raw := signedCard(b, c)
	v := knowing(c.KEL())
	v.Replay = identity.NewCache(1 << 20).Replay
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(context.Background(), raw); err != nil {
			b.Fatal(err)
		}
	}
}
