package httpapi

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/wire"
)

// application decodes the body.
func application(signer string, body []byte, hash directory.BodyHash) (directory.Application, error) {
	var reg wire.Register
	if err := decodeAround(body, "a2a_card", &reg, &reg.A2ACard); err != nil {
		return directory.Application{}, err
	}
	return directory.NewApplication(reg, signer, hash)
}

// decodeAround decodes a body strictly but for one member, whose own reader
// judges it: an ambiguous card is a bad card, not a bad registration.
func decodeAround(body []byte, name string, v any, member *wire.RawJSON) error {
	begin, end, ok := findMember(body, name)
	if !ok {
		return decode(body, v)
	}
	rest := bytes.Join([][]byte{body[:begin], body[end:]}, []byte("null"))
	if err := decode(rest, v); err != nil {
		return err
	}
	*member = bytes.Clone(body[begin:end])
	return nil
}

// findMember finds the value of an object's first member of that name, where it
// lies. Whatever is malformed is left to decode.
func findMember(body []byte, name string) (begin, end int, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return 0, 0, false
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return 0, 0, false
		}
		wanted := t.String() == name
		v, err := dec.ReadValue()
		if err != nil {
			return 0, 0, false
		}
		if end = int(dec.InputOffset()); wanted {
			return end - len(v), end, true
		}
	}
	return 0, 0, false
}
