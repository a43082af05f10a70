// Package payment holds the objects money moves by: authorization, receipt and
// voucher as they are signed, and the x402 forms they travel in (wire 2,
// section K.1). It books nothing.
//
// The one rule: amounts are whole credits from 1 to 2^63-1. Anything else is
// refused, never wrapped, rounded or cut.
package payment

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// What an x402 message of ours says in every case.
const (
	X402Version = 2
	Scheme      = "anet-credit"
	Asset       = "credit"
)

// MaxAmount is the most credits anything can hold.
const MaxAmount = math.MaxInt64

// Reasons, exactly as the facilitator writes them (section K.3).
const (
	InsufficientFunds   = "insufficient_funds"
	InvalidSignature    = "invalid_signature"
	ExpiredPayment      = "expired_payment"
	DuplicateNonce      = "duplicate_nonce"
	DuplicateBinding    = "duplicate_binding"
	NetworkMismatch     = "network_mismatch"
	InvalidAmount       = "invalid_amount"
	PayeeMismatch       = "payee_mismatch"
	UnsupportedScheme   = "unsupported_scheme"
	UnknownPayer        = "unknown_payer"
	MalformedPayment    = "malformed_payment"
	InvalidRequirements = "invalid_payment_requirements"
	SettlementFailed    = "settlement_failed"
	SettlementPending   = "settlement_pending"
)

var reasons = []string{InsufficientFunds, InvalidSignature, ExpiredPayment, DuplicateNonce, DuplicateBinding, NetworkMismatch,
	InvalidAmount, PayeeMismatch, UnsupportedScheme, UnknownPayer, MalformedPayment, InvalidRequirements, SettlementFailed, SettlementPending}

// Reason reports whether a ledger can say this.
func Reason(s string) bool { return slices.Contains(reasons, s) }

func refuse(reason, format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, reason, format, args...)
}

// CheckAmount refuses an amount outside the range.
func CheckAmount(n uint64) error {
	if n < 1 || n > MaxAmount {
		return refuse(InvalidAmount, "an amount is between 1 and %d credits", int64(MaxAmount))
	}
	return nil
}

// ParseAmount reads the decimal string amounts are written as in JSON.
func ParseAmount(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || FormatAmount(n) != s {
		return 0, refuse(InvalidAmount, "%.32q is no whole number of credits", s)
	}
	return n, CheckAmount(n)
}

// FormatAmount writes one.
func FormatAmount(n uint64) string { return strconv.FormatUint(n, 10) }

const networkPrefix = "hub:"

// Network names the ledger of a hub.
func Network(hubAID string) string { return networkPrefix + hubAID }

// HubOf is the hub whose ledger a network is.
func HubOf(network string) (aid string, ok bool) {
	aid, ok = strings.CutPrefix(network, networkPrefix)
	return aid, ok && aid != ""
}

// Skew is how far the clocks of payer and ledger may differ.
const Skew = 2 * time.Minute

// InWindow reports whether now lies in [issuedAt, notAfter], give or take the
// skew. It subtracts the smaller time from the larger, so that no time however
// late overflows into the past.
func InWindow(issuedAt, notAfter, now uint64) bool {
	const skew = uint64(Skew / time.Millisecond)
	begun := now >= issuedAt || issuedAt-now <= skew
	ended := now > notAfter && now-notAfter > skew
	return begun && !ended
}

// Binding ties an authorization to one task: the nonce enters as the text it
// stands in the task as, not decoded (section K.6).
func Binding(interactionID, nonceText string) string {
	sum := sha256.Sum256([]byte("anet/x402-bind/v1\x00" + interactionID + "\x00" + nonceText))
	return hex.EncodeToString(sum[:])
}
