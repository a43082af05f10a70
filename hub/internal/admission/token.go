package admission

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Token is the secret of an invite. It is told once, to who asked for it; a hub
// keeps its hash. Whatever prints a Token by accident prints none of it.
type Token struct{ text string }

// The form of a token (wire 2, I.3): the prefix and 20 random bytes. The whole
// of it is random, so that nothing tells a mistyped one from a guess.
const (
	tokenPrefix = "anetinv_"
	tokenBytes  = 20
	idBytes     = 5
)

var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func newToken(random io.Reader) (Token, error) {
	text, err := draw(random, tokenBytes)
	return Token{tokenPrefix + text}, err
}

// newID draws the name an invite goes by in public. It says nothing about the
// token.
func newID(random io.Reader) (string, error) { return draw(random, idBytes) }

func draw(random io.Reader, n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw an invite: %w", err)
	}
	return lower.EncodeToString(b), nil
}

// ReadToken takes what was handed in. Blanks around it come with files.
func ReadToken(text string) Token { return Token{strings.TrimSpace(text)} }

// IsZero reports that nothing was handed in.
func (t Token) IsZero() bool { return t.text == "" }

// WellFormed tells a token from a word that cannot be one. Nothing is looked up
// for such a word.
func (t Token) WellFormed() bool {
	text, ok := strings.CutPrefix(t.text, tokenPrefix)
	return ok && encodes(text, tokenBytes)
}

// encodes reports whether a text is what n bytes are written as.
func encodes(text string, n int) bool {
	b, err := lower.DecodeString(text)
	return err == nil && len(b) == n && lower.EncodeToString(b) == text
}

// Hash is what is kept and looked up. How long a comparison of hashes takes says
// nothing about the token behind one.
func (t Token) Hash() string {
	sum := sha256.Sum256([]byte(t.text))
	return hex.EncodeToString(sum[:])
}

// Reveal is the text itself, for the one place that hands it over.
func (t Token) Reveal() string { return t.text }

// String is not the token.
func (t Token) String() string { return tokenPrefix + "…" }

// GoString is not the token either.
func (t Token) GoString() string { return t.String() }

// LogValue keeps it out of logs.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText keeps it out of JSON.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MentionsToken reports whether a text holds what may be a token: labels and
// reasons are kept and shown.
func MentionsToken(text string) bool { return strings.Contains(strings.ToLower(text), tokenPrefix) }

// ValidID reports whether a word has the form of an invite's id.
func ValidID(id string) bool { return encodes(id, idBytes) }
