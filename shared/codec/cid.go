package codec

import (
	"crypto/sha256"
	"encoding/base32"
)

// A content id is CIDv1 with SHA-256; only these two codecs occur.
const (
	dagCBOR = "\x01\x71\x12\x20"
	rawData = "\x01\x55\x12\x20"
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
