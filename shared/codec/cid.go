package codec

import (
	"crypto/sha256"
	"encoding/base32"
)

// A content id is CIDv1 with SHA-256; only these two codecs occur.
const (
	dagCBOR = "\x01\x71\x12\x20"
	rawData = "\x01\x55\x12\x20"

	cidLen = 59
)

var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// CID names canonical CBOR bytes: agents, events, signed objects, anchors.
func CID(b []byte) string { return cid(dagCBOR, b) }

// RawCID names bytes that are no CBOR of ours: attachments, forwarded payloads.
func RawCID(b []byte) string { return cid(rawData, b) }

func cid(prefix string, b []byte) string {
	sum := sha256.Sum256(b)
	return "b" + base32Lower.EncodeToString(append([]byte(prefix), sum[:]...))
}

// ValidCID reports whether s is a content id of one of the two forms. The
// text is compared with its own re-encoding: the decoder lets line breaks and
// stray trailing bits pass, which would give one content two names.
func ValidCID(s string) bool {
	if len(s) != cidLen || s[0] != 'b' {
		return false
	}
	b, err := base32Lower.DecodeString(s[1:])
	if err != nil || base32Lower.EncodeToString(b) != s[1:] {
		return false
	}
	prefix := string(b[:len(dagCBOR)])
	return prefix == dagCBOR || prefix == rawData
}
