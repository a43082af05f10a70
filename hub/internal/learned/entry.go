package learned

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Entry is one entry of a page of cards, not believed yet.
type Entry struct {
	AID       string // whom it claims to be about
	FedSeq    int64
	Hash      Hash
	Card      []byte
	KEL       []byte
	Keyset    []byte
	Home      string
	Withdrawn bool
	err       error // it is none
}

// Hash names all that an entry says, its number aside.
type Hash [sha256.Size]byte

// Page is a page of a stream of cards, in which nobody stands twice.
type Page struct {
	Cursor  int64
	Entries []Entry
	Asked   string // whom it was read for again
}

// page is a page before any of its entries is looked at: one that is broken must
// not take the others with it.
type page struct {
	Cursor  int64    `json:"cursor"`
	Cards   rawItems `json:"cards"`
	Reviews rawItems `json:"reviews"`

	end     bool   // nothing stands behind it
	asked   string // whom it was read for again
	missing bool   // the peer knows no such stream
}

// maxEntries is far above what a page holds (wire 2, J.4).
const maxEntries = 1000

// rawItems is a list of which no more is taken up than a page may hold: a page
// full of commas would be some hundred megabytes of empty entries.
type rawItems []json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawItems) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('[') {
		return err // null is a list of nothing, and so is what is no list
	}
	for dec.More() {
		if len(*r) == maxEntries {
			return errs.New(errs.BadGateway, "page_too_long", "the page has more than the %d entries there may be", maxEntries)
		}
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return err
		}
		*r = append(*r, item)
	}
	return nil
}

// readPage reads what a peer answered to a reading from after. A page whose number
// does not move on would be read for ever. One without entries whose number does
// stands before the end: what it passed is told to nobody.
func readPage(body []byte, after int64) (p page, err error) {
	if err := json.Unmarshal(body, &p); err != nil {
		if e := errs.As(err); e != nil {
			return p, e
		}
		return p, errs.New(errs.BadGateway, "page_malformed", "the page is no page of a stream").Because(err)
	}
	switch n := len(p.Cards) + len(p.Reviews); {
	case p.Cursor > after:
	case n > 0:
		return p, errs.New(errs.BadGateway, "page_goes_back", "the page behind %d ends at %d", after, p.Cursor)
	default:
		p.Cursor, p.end = after, true
	}
	return p, nil
}

// cards reads the entries of a page of one of the streams of cards. Formats that
// nobody here knows are no entries; of two about one agent the later counts.
func (p page) cards(stream Stream) Page {
	out := Page{Cursor: p.Cursor, Asked: p.asked}
	at := map[string]int{}
	for _, raw := range p.Cards {
		e, known := readEntry(stream, raw)
		if !known {
			continue
		}
		if i, before := at[e.AID]; before && e.AID != "" {
			out.Entries[i] = e
			continue
		}
		at[e.AID] = len(out.Entries)
		out.Entries = append(out.Entries, e)
	}
	return out
}

func readEntry(stream Stream, raw []byte) (e Entry, known bool) {
	var in wire.FedCard
	if err := json.Unmarshal(raw, &in); err != nil {
		return Entry{err: malformed("the entry is none", err)}, true
	}
	e = Entry{FedSeq: in.FedSeq, Card: in.Card, KEL: in.KEL, Keyset: in.Keys, Home: in.Home}
	e.Hash = hashOf(e)
	switch {
	case stream == peers.ADPCards, in.Format == wire.FormatA2ACard:
		e.AID, e.err = claimed(stream, e)
	case in.Format == wire.FormatWithdrawal:
		e.AID, e.err = withdrawn(in.Card)
		e.Withdrawn = true
	default:
		return e, false
	}
	return e, true
}

// claimed is cheap where a history comes along: one hash.
func claimed(stream Stream, e Entry) (string, error) {
	if len(e.KEL) > identity.MaxKELBytes {
		return "", malformed("the key history is too large", nil)
	}
	if len(e.KEL) > 0 {
		aid, err := identity.Claimed(e.KEL)
		if err != nil {
			return "", malformed("the key history is none", err)
		}
		return aid, nil
	}
	aid, err := named(stream, e.Card)
	if err == nil && !identity.ValidAID(aid) {
		err = malformed("the card names no agent", nil)
	}
	return aid, err
}

func withdrawn(card []byte) (string, error) {
	var w wire.Withdrawal
	err := json.Unmarshal(card, &w)
	if err != nil || w.Action != wire.ActionWithdraw || !identity.ValidAID(w.AgentID) {
		return "", malformed("the withdrawal names no agent", err)
	}
	return w.AgentID, nil
}

func malformed(says string, cause error) error {
	return errs.New(errs.Invalid, "malformed", "%s", says).Because(cause)
}

func hashOf(e Entry) Hash {
	h := sha256.New()
	for _, part := range [][]byte{e.Card, e.KEL, e.Keyset, []byte(e.Home)} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = h.Write(part)
	}
	return Hash(h.Sum(nil))
}

// Held is an entry that is asked for again.
type Held struct {
	AID    string
	FedSeq int64
	Reason string
	Retry  time.Time // zero: when the AID is not registered here any more
}
