package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/wire"
)

// The memory of an answer is known before it is written, whatever is in it.
func TestBodiesHaveTheRoomThatWasTaken(t *testing.T) {
	aid := "b" + strings.Repeat("a", 58)
	row := directory.CardRow{AID: aid, Card: []byte(`{"name":"` + strings.Repeat("n", 60_000) + `"}`)}
	page := directory.CardPage{Rows: []directory.CardRow{row, row}, Next: aid, Bytes: 2 * (len(row.Card) + directory.CardRoom)}
	home := "https://" + strings.Repeat("h", 20_000)
	var taken int64
	body, err := cardsBody(page, home, 2, func(n int64) error { taken += n; return nil })
	if room := page.Bytes + int(taken) + 1024; err != nil || cap(body) > room || taken != 2*int64(len(home)) {
		t.Errorf("cards: %d bytes of memory, %v, want %d at most, %d of them for the hub's address", cap(body), err, room, taken)
	}
	var cards wire.Cards
	if err := json.Unmarshal(body, &cards); err != nil || len(cards.Agents) != 2 || cards.Limit != 2 || cards.NextCursor != aid {
		t.Errorf("the cards read back: %+v, %v", cards, err)
	}

	all := make([]directory.Address, 100)
	for i := range all {
		all[i] = directory.Address{AID: aid, Addr: strings.Repeat("\x01", 256)}
	}
	body, err = addressesBody(all)
	if room := len(all) * directory.AddressBytes; err != nil || cap(body) > room {
		t.Errorf("addresses: %d bytes of memory, %v, want %d at most", cap(body), err, room)
	}
	var addresses wire.P2PPeers
	if err := json.Unmarshal(body, &addresses); err != nil || addresses.Count != 100 || addresses.Peers[99].Addr != all[99].Addr {
		t.Errorf("the addresses read back: %d, %v", addresses.Count, err)
	}
}
