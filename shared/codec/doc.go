// Package codec holds the encodings every signed byte of wire 2 goes through:
// deterministic CBOR (section A.1), content ids (A.2), strict base64url,
// strict JSON and canonical JSON (H.3).
//
// The one rule: bytes are signed and compared in canonical form only. What a
// peer sent may be written differently; re-encode before checking a signature.
package codec
