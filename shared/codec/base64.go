package codec

import (
	"encoding/base64"
	"errors"
	"strings"
)

var errBase64 = errors.New("not strict base64")

// EncodeB64u writes base64url without padding.
func EncodeB64u(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// DecodeB64u reads base64url strictly: the 64 characters alone, no padding,
// no line breaks, zero trailing bits. One value has exactly one text.
func DecodeB64u(s string) ([]byte, error) { return decode64(base64.RawURLEncoding, s) }

// EncodeB64 writes standard base64 with padding.
func EncodeB64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// DecodeB64 reads standard padded base64 as strictly as DecodeB64u.
func DecodeB64(s string) ([]byte, error) { return decode64(base64.StdEncoding, s) }

func decode64(enc *base64.Encoding, s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") { // the standard decoder skips them
		return nil, errBase64
	}
	b, err := enc.Strict().DecodeString(s)
	if err != nil {
		return nil, errBase64
	}
	return b, nil
}
