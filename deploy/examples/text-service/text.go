package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// capabilities are the ids this program answers and the work behind them.
var capabilities = map[string]func(content []byte) answer{
	"text.digest":    digest,
	"text.wordcount": wordcount,
}

// answer is a JSON object; the node turns its numbers into metrics.
type answer map[string]any

// input reads the arguments: {"text": "…"} or, for bytes that are no text,
// {"data_b64": "…"}.
func input(args []byte) ([]byte, error) {
	var in struct {
		Text *string `json:"text"`
		Data *string `json:"data_b64"`
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	switch err := d.Decode(&in); {
	case err != nil || (in.Text == nil) == (in.Data == nil):
		return nil, errors.New(`the arguments must be {"text": "…"} or {"data_b64": "…"}`)
	case in.Text != nil:
		return []byte(*in.Text), nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(*in.Data)
	if err != nil {
		return nil, errors.New("data_b64 is no base64 with padding")
	}
	return data, nil
}

// digest is the SHA-256, as sha256sum prints it.
func digest(content []byte) answer {
	sum := sha256.Sum256(content)
	text := hex.EncodeToString(sum[:])
	return answer{"digest": text, "algorithm": "sha256", "bytes": len(content), "evidence": observed(text)}
}

// wordcount counts as wc does: lines are line breaks, words are what blanks part.
func wordcount(content []byte) answer {
	words := len(bytes.Fields(content))
	return answer{
		"words": words, "lines": bytes.Count(content, []byte("\n")),
		"characters": utf8.RuneCount(content), "bytes": len(content), "evidence": observed(strconv.Itoa(words)),
	}
}

// observed is the outcome in one word, for whoever does not read the rest.
func observed(outcome string) map[string]string { return map[string]string{"observed_state": outcome} }
