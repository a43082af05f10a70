package httpapi

import "testing"

// K.7: an address without an agent or a capability is a mistake, and no word of what is
// sold.
func TestAddressesThatNameNothingForSale(t *testing.T) {
	m := newMarket(t)
	bob := "/" + m.bob.AID()
	for path, want := range map[string]int{"": 400, "/": 400, bob: 400, bob + "/": 400, "//text.digest": 400, bob + "/text.digest/more": 404} {
		if a := m.bring("/x402/resource" + path); a.StatusCode != want {
			t.Errorf("%q: %d %s, want %d", path, a.StatusCode, a.raw, want)
		}
	}
}
