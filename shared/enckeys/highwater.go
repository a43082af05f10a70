package enckeys

import "bytes"

// Decision is what to do with a verified set beside the one on record.
type Decision int

// The decisions of section D.3. Fork and Rollback leave the record alone.
const (
	Replace   Decision = iota // newer, or the first
	Unchanged                 // the same, nothing to write
	Resigned                  // the same set under another signature: store the new bytes
	Fork                      // another set under the same number
	Rollback                  // an older set
)

func (d Decision) String() string {
	return [...]string{"replace", "unchanged", "resigned", "fork", "rollback"}[d]
}

// Stores reports whether the incoming bytes go on record.
func (d Decision) Stores() bool { return d == Replace || d == Resigned }

// Refused reports whether the incoming set contradicts the record.
func (d Decision) Refused() bool { return d == Fork || d == Rollback }

// Decide compares an incoming set with the one on record, nil for none. It
// verifies neither: the incoming one has to be verified first, whatever the
// decision, because a set of the same number may come under another signature.
func Decide(stored *Signed, incoming Signed) Decision {
	switch {
	case stored == nil || incoming.Set.Seq > stored.Set.Seq:
		return Replace
	case incoming.Set.Seq < stored.Set.Seq:
		return Rollback
	case !bytes.Equal(incoming.Bytes, stored.Bytes):
		return Fork
	case incoming.KSN != stored.KSN || !bytes.Equal(incoming.Sig, stored.Sig):
		return Resigned
	}
	return Unchanged
}
