package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Problem is one thing wrong with the file and where it stands.
type Problem struct {
	Line, Column int // from 1; zero when the file has no such place
	Pointer      string
	Message      string
}

// Problems refuse the start. All of them are told at once: an operator mends a
// file in one go.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", FileName, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", FileName, p.Line, p.Column, p.Message)
}

// place turns a byte offset into the line and column an editor shows; columns
// count bytes.
func place(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset, 0), int64(len(data)))]
	line = bytes.Count(before, []byte("\n")) + 1
	return line, len(before) - bytes.LastIndexByte(before, '\n')
}

// readable writes a JSON pointer as people write paths:
// modules.service.capabilities[0].url.
func readable(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case isIndex(token):
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

func isIndex(token string) bool {
	return token != "" && strings.Trim(token, "0123456789") == ""
}
