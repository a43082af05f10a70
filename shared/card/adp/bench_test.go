package adp

import (
	"fmt"
	"testing"
)

// What a quote of the gateway costs: the seller's card is verified for each.
func BenchmarkAdmit(b *testing.B) {
	k := controller(b)
	for _, n := range []int{1, 50, 1000} {
		o := Offer{Name: "Alice", RedeemAt: "https://alice.example/redeem", Prices: map[string]uint64{}}
		for i := range n {
			o.Prices[fmt.Sprint("text.digest", i)] = 25
		}
		raw, err := o.Sign(k, 0, noon)
		if err != nil {
			b.Fatal(err)
		}
		h := k.History()
		b.Run(fmt.Sprint(n, " prices, ", len(raw), " bytes"), func(b *testing.B) {
			for b.Loop() {
				if _, err := Admit(raw, h, 0, noon); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
