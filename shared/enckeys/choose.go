package enckeys

import (
	"time"

	"github.com/anet-hub/anet/shared/envelope"
)

// Choose gives the key to seal to (section D.4): of those valid now the
// newest; failing that, of those valid within MaxSkew the earliest, because
// clocks differ.
func Choose(keys []Key, now time.Time) (Key, error) {
	if k, ok := newest(keys, at(now)); ok {
		return k, nil
	}
	if k, ok := soonest(keys, at(now), at(now.Add(envelope.MaxSkew))); ok {
		return k, nil
	}
	return Key{}, envelope.NoUsableKey.Errorf("the key set has no key that can be used now")
}

func newest(keys []Key, now uint64) (best Key, ok bool) {
	for _, k := range keys {
		if k.implemented() && k.NotBefore <= now && now < k.NotAfter && (!ok || k.NotBefore >= best.NotBefore) {
			best, ok = k, true
		}
	}
	return best, ok
}

func soonest(keys []Key, now, soon uint64) (best Key, ok bool) {
	for _, k := range keys {
		if k.implemented() && k.NotBefore <= soon && now < k.NotAfter && (!ok || k.NotBefore < best.NotBefore) {
			best, ok = k, true
		}
	}
	return best, ok
}

func (k Key) implemented() bool { return k.Suite == envelope.SuiteX25519 }
