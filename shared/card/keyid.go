package card

import (
	"strconv"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/anet-hub/anet/shared/identity"
)

func (k keyID) String() string { return didPrefix + k.AID + "#" + strconv.FormatUint(k.Seq, 10) }

func parseKeyID(s string) (keyID, bool) {
	rest, isDID := strings.CutPrefix(s, didPrefix)
	aid, number, _ := strings.Cut(rest, "#")
	seq, ok := decimal(number)
	return keyID{aid, uint64(seq)}, isDID && ok && plausibleAID(aid)
}

// JWKSType is the media type of JWKS.
const JWKSType = "application/jwk-set+json"

// JWKSURL is where a hub serves the keys of aid (section H.5).
func JWKSURL(hubURL, aid string) string { return trimBase(hubURL) + "/agents/" + aid + "/jwks.json" }

// JWKS is the set of current keys in canonical JSON, empty for a deactivated
// AID. It is the word of whoever serves it; the KEL is the proof.
func JWKS(h *identity.History) ([]byte, error) {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	first, ok := h.CurrentFrom()
	for seq := first; ok && seq < uint64(h.Len()); seq++ {
		state, _ := h.State(seq)
		set.Keys = append(set.Keys, jose.JSONWebKey{
			Key: state.Key, KeyID: keyID{h.AID(), seq}.String(), Algorithm: string(jose.EdDSA), Use: "sig",
		})
	}
	return canonical(set)
}
