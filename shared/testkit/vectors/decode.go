package vectors

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/codec"
)

// Remarks are members for people. Embed them where a file may have some.
type Remarks struct {
	Source  jsontext.Value `json:"source,omitzero"`
	Note    jsontext.Value `json:"note,omitzero"`
	Derived jsontext.Value `json:"derived,omitzero"`
	Comment jsontext.Value `json:"comment,omitzero"`
	Rule    jsontext.Value `json:"rule,omitzero"`
}

// Hex is bytes written as lower-case hex.
type Hex []byte

// UnmarshalText reads hex.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// MarshalText writes it.
func (h Hex) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

// decode reads a file into v and insists that v says all of it: members v does
// not know are refused, and so are members missing from the file. One that may
// be missing is tagged omitzero.
func decode(data []byte, v any) error {
	if err := codec.CheckNames(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	got, err := codec.CanonicalJSON(again)
	if err != nil {
		return err
	}
	want, err := codec.CanonicalJSON(data)
	if err != nil {
		return err
	}
	if at := differAt(got, want); at >= 0 {
		return fmt.Errorf("a member is missing or of another form near %.60q", want[max(0, at-20):])
	}
	return nil
}

// differAt is the first place where a and b differ, -1 when nowhere.
func differAt(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// same is nil when got is want.
func same[T comparable](what string, got, want T) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s = %v, want %v", what, got, want)
}

// sameBytes is nil when got is want.
func sameBytes(what string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%s = %x, want %x", what, got, want)
}

// outcome compares whether something succeeded with whether it should.
func outcome(what string, err error, ok bool) error {
	switch {
	case ok:
		return err
	case err == nil:
		return fmt.Errorf("%s is accepted, want a refusal", what)
	default:
		return nil
	}
}

// all checks one thing after the other and reports every failure.
func all(errs ...error) error { return errors.Join(errs...) }

// unread refuses members the kind of vector has no use for.
func unread(where string, present ...bool) error {
	if slices.Contains(present, true) {
		return fmt.Errorf("members %s that no check reads", where)
	}
	return nil
}
