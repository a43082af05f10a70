package directory

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
)

// cabinet is a store of cards and addresses that are all of one size. It holds who
// reads to the memory that was taken.
type cabinet struct {
	Store
	t     *testing.T
	n     int
	size  int
	taken int64
	kept  int64 // bytes that were read so far
}

func (c *cabinet) reserve(n int64) error { c.taken += n; return nil }

func (c *cabinet) Cards(_ context.Context, _ CardQuestion, after string, n, most int) (CardStep, error) {
	if room := c.taken/2 - c.kept; int64(most) > room {
		c.t.Errorf("up to %d bytes are read with room for %d", most, room)
	}
	var st CardStep
	for i := c.from(after); i < c.n && st.Looked < n; i++ {
		st.Looked++
		st.Rows = append(st.Rows, CardRow{AID: aidOf(i), Card: make([]byte, c.size), Home: "https://hub.example.org"})
		c.kept += int64(c.size)
		if most -= c.size; most < 0 {
			st.Looked = n
			break
		}
	}
	return st, nil
}

func (c *cabinet) Addresses(_ context.Context, after string, n int) (page []Address, _ error) {
	c.kept += int64(n * AddressBytes)
	if c.kept > c.taken {
		c.t.Errorf("%d bytes of addresses are read with room for %d", c.kept, c.taken)
	}
	for i := c.from(after); i < c.n && len(page) < n; i++ {
		page = append(page, Address{AID: aidOf(i), Addr: "tcp://192.0.2.1:9"})
	}
	return page, nil
}

// from is the number of the one behind after.
func (c *cabinet) from(after string) int {
	for i := range c.n {
		if aidOf(i) == after {
			return i + 1
		}
	}
	return 0
}

// A page of cards takes memory for what was read and for the answer, as it grows.
func TestAPageOfCardsTakesWhatItHolds(t *testing.T) {
	for _, tt := range []struct {
		cards, size, limit int
		want               int // cards on the page
		most               int64
	}{
		{0, 0, 200, 0, 2*200*usualCard + card.MaxBytes},
		{300, 2 << 10, 50, 50, 2*50*usualCard + card.MaxBytes},
		{300, card.MaxBytes, 1, 1, 8 * card.MaxBytes},
		{300, card.MaxBytes, 200, MaxPageBytes / (card.MaxBytes + CardRoom), 3 * 2 * MaxPageBytes},
	} {
		t.Run(fmt.Sprintf("%d of %d bytes by %d", tt.cards, tt.size, tt.limit), func(t *testing.T) {
			c := &cabinet{t: t, n: tt.cards, size: tt.size}
			d := &Directory{store: c, life: usual{}, now: func() time.Time { return testNow }}
			p, err := d.ListCards(t.Context(), CardQuestion{}, tt.limit, "", c.reserve)
			if err != nil || len(p.Rows) != tt.want {
				t.Fatalf("%d cards, %v, want %d", len(p.Rows), err, tt.want)
			}
			if least := int64(p.Bytes) + c.kept; c.taken < least || c.taken > tt.most {
				t.Errorf("%d bytes were taken, want %d to %d", c.taken, least, tt.most)
			}
		})
	}
}

func TestAddressesTakeWhatTheyHold(t *testing.T) {
	for _, n := range []int{0, 1, addressStep, addressStep + 1, maxAddresses + 1} {
		c := &cabinet{t: t, n: n}
		all, err := (&Directory{store: c}).Addresses(t.Context(), c.reserve)
		if err != nil || len(all) != min(n, maxAddresses) {
			t.Errorf("of %d addresses %d are given, %v", n, len(all), err)
		}
		if steps := int64(len(all)/addressStep + 1); c.taken > steps*addressStep*AddressBytes {
			t.Errorf("%d addresses took %d bytes", n, c.taken)
		}
	}
}

// Who finds no memory reads nothing.
func TestNothingIsReadWithoutMemory(t *testing.T) {
	busy := func(int64) error { return errs.New(errs.Unavailable, "hub_busy", "busy") }
	d := &Directory{life: usual{}, now: func() time.Time { return testNow }} // without a store to read
	if _, err := d.ListCards(t.Context(), CardQuestion{}, 50, "", busy); !errs.Is(err, "hub_busy") {
		t.Errorf("cards: %v, want hub_busy", err)
	}
	if _, err := d.Addresses(t.Context(), busy); !errs.Is(err, "hub_busy") {
		t.Errorf("addresses: %v, want hub_busy", err)
	}
}
