package payment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxReference bounds what a redemption is for, in bytes.
const MaxReference = 256

// redeemPrefix begins what a redemption is bound to: one for each reference.
const redeemPrefix = "redeem:"

// ValidReference reports whether a reference is one line that hubs keep. An empty one
// is none.
func ValidReference(reference string) bool {
	return len(reference) <= MaxReference && utf8.ValidString(reference) && !strings.ContainsFunc(reference, unicode.IsControl)
}

// RedemptionOf is the interaction that a redemption with a reference is signed for, so
// that there is one for each; without a reference it is bound to nothing.
func RedemptionOf(reference string) (interaction string) {
	if reference == "" {
		return ""
	}
	return redeemPrefix + reference
}

// Redeems reports whether an authorization for an interaction may be redeemed with a
// reference: it was signed for no other one.
func Redeems(interaction, reference string) bool {
	return !strings.HasPrefix(interaction, redeemPrefix) || interaction == redeemPrefix+reference
}
