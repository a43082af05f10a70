package directory

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// sealLen is how much of the hash over question and place a cursor carries.
// It guards against mix-ups, not against forgers: a made-up place shows nothing
// that a walk would not.
const sealLen = 8

// fixedLen is the length of a place without its texts.
const fixedLen = 4 + 4 + 8 + 2

// encodeCursor writes the place a list goes on from, bound to the question that
// was asked: with another one the place would mean something else.
func encodeCursor(question string, p Place) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(p.Rating))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Reviews))
	b = binary.BigEndian.AppendUint64(b, uint64(p.RegisteredAt.UnixMicro()))
	b = binary.BigEndian.AppendUint16(b, uint16(len(p.Cap)))
	b = append(b, p.Cap...)
	b = append(b, p.AID...)
	return codec.EncodeB64u(append(b, cursorSeal(question, b)...))
}

// decodeCursor reads it back. Whatever is not a cursor of this question is
// refused: starting again at page one would go unnoticed.
func decodeCursor(question, cursor string) (Place, error) {
	b, err := codec.DecodeB64u(cursor)
	if err != nil || len(b) < fixedLen+sealLen {
		return Place{}, errCursor()
	}
	b, seal := b[:len(b)-sealLen], b[len(b)-sealLen:]
	capLen := int(binary.BigEndian.Uint16(b[16:]))
	if !bytes.Equal(seal, cursorSeal(question, b)) || len(b) < fixedLen+capLen {
		return Place{}, errCursor()
	}
	p := Place{
		Rating:       int32(binary.BigEndian.Uint32(b)),
		Reviews:      int32(binary.BigEndian.Uint32(b[4:])),
		RegisteredAt: time.UnixMicro(int64(binary.BigEndian.Uint64(b[8:]))),
		Cap:          string(b[fixedLen : fixedLen+capLen]),
		AID:          string(b[fixedLen+capLen:]),
	}
	if !p.storable() {
		return Place{}, errCursor()
	}
	return p, nil
}

// storable keeps a made-up place from reaching the database as text or time it
// cannot take.
func (p Place) storable() bool {
	year := p.RegisteredAt.UTC().Year()
	return (p.Cap == "" || capability.Keepable(p.Cap)) && identity.ValidAID(p.AID) && year > 0 && year < 10000
}

func cursorSeal(question string, place []byte) []byte {
	h := sha256.New()
	h.Write(place)
	h.Write([]byte(question))
	return h.Sum(nil)[:sealLen]
}

func errCursor() error {
	return errs.New(errs.Invalid, "cursor_invalid",
		"this cursor belongs to no page of this question: use next_cursor as it was given, with the same question").In("cursor")
}
