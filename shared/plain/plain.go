// Package plain makes text that somebody else wrote safe to show to people: in
// a terminal and on a page it can neither act nor reorder what stands around it.
//
// It is for showing only. What is compared, stored or sent stays as it was.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is s for one line. Controls, and the marks that turn the direction of
// text around, become a sign that something was there; every blank is a space.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r), joins(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, s)
}

// joins reports whether r is one of the two invisible marks that Persian, the
// scripts of India and many emoji are not written without.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Cut is the beginning of s that fits into most bytes, and no half of a rune.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Text is the same for text of several lines.
func Text(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = Line(l)
	}
	return strings.Join(lines, "\n")
}
