package directory

import (
	"encoding/binary"
	"time"

	"github.com/anet-hub/anet/hub/internal/cursor"
	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/identity"
)

// fixedLen is the length of a place without its texts.
const fixedLen = 4 + 4 + 8 + 2

// encodeCursor writes the place a list goes on from, bound to the question that
// was asked.
func encodeCursor(question string, p Place) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(p.Rating))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Reviews))
	b = binary.BigEndian.AppendUint64(b, uint64(p.RegisteredAt.UnixMicro()))
	b = binary.BigEndian.AppendUint16(b, uint16(len(p.Cap)))
	b = append(b, p.Cap...)
	return cursor.Seal(question, append(b, p.AID...))
}

// decodeCursor reads it back. Whatever is not a cursor of this question is
// refused.
func decodeCursor(question, written string) (Place, error) {
	b, ok := cursor.Open(question, written)
	if !ok || len(b) < fixedLen {
		return Place{}, cursor.Invalid()
	}
	capLen := int(binary.BigEndian.Uint16(b[16:]))
	if len(b) < fixedLen+capLen {
		return Place{}, cursor.Invalid()
	}
	p := Place{
		Rating:       int32(binary.BigEndian.Uint32(b)),
		Reviews:      int32(binary.BigEndian.Uint32(b[4:])),
		RegisteredAt: time.UnixMicro(int64(binary.BigEndian.Uint64(b[8:]))),
		Cap:          string(b[fixedLen : fixedLen+capLen]),
		AID:          string(b[fixedLen+capLen:]),
	}
	if !p.storable() {
		return Place{}, cursor.Invalid()
	}
	return p, nil
}

// storable keeps a made-up place from reaching the database as text or time it
// cannot take.
func (p Place) storable() bool {
	year := p.RegisteredAt.UTC().Year()
	return (p.Cap == "" || capability.Keepable(p.Cap)) && identity.ValidAID(p.AID) && year > 0 && year < 10000
}
