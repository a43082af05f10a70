package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
)

// Edit is one member the program changes on the operator's behalf.
type Edit struct {
	path  []string
	value any
}

// The members a command may change. Ids of capabilities are none of them: what
// is listed is computed, and written down nowhere.
func SetHubURL(v string) Edit         { return Edit{[]string{"hub_url"}, v} }
func SetName(v string) Edit           { return Edit{[]string{"name"}, v} }
func SetTags(v []string) Edit         { return Edit{[]string{"tags"}, v} }
func SetPolicy(v Policy) Edit         { return Edit{[]string{"inbound", "policy"}, v} }
func SetVisibility(v Visibility) Edit { return Edit{[]string{"visibility"}, v} }
func SetPayees(v []string) Edit       { return Edit{[]string{"payments", "payees"}, v} }
func SetSummary(v string) Edit        { return Edit{[]string{"profile", "summary"}, v} }
func SetReadme(v string) Edit         { return Edit{[]string{"profile", "readme"}, v} }
func SetPricing(v string) Edit        { return Edit{[]string{"profile", "pricing"}, v} }

// SetPayment sets one limit of payments, or whether the list of payees counts.
func SetPayment(name string, v any) Edit { return Edit{[]string{"payments", name}, v} }

// Update applies the edits to the folder's file, all of them or none, and
// leaves every other byte of it alone. A file that is broken, or that an edit
// would break, is not touched.
func Update(dir datadir.Dir, edits ...Edit) error {
	return dir.Change(FileName, func(old []byte) ([]byte, error) { return apply(old, edits) })
}

func apply(old []byte, edits []Edit) ([]byte, error) {
	data := old
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	if _, err := Parse(data); err != nil {
		return nil, err
	}
	for _, e := range edits {
		value, err := json.Marshal(e.value, json.FormatNilSliceAsNull(false))
		if err != nil {
			return nil, err
		}
		if data, err = splice(data, e.path, value, 1); err != nil {
			return nil, err
		}
	}
	if _, err := Parse(data); err != nil {
		return nil, refused(err)
	}
	return data, nil
}

// refused is the fault of an edit. The file was right before, so a line of it
// helps nobody.
func refused(err error) error {
	var told []string
	var faults Problems
	if errors.As(err, &faults) {
		for _, p := range faults {
			told = append(told, p.Message)
		}
	}
	return errs.New(errs.Invalid, "setting_invalid", "%s", strings.Join(told, "; "))
}

// splice puts value at a path of names inside the object, which begins at
// nesting depth-1.
func splice(object []byte, path []string, value []byte, depth int) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	last := d.InputOffset()
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		wanted := name.String() == path[0]
		old, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		last = d.InputOffset()
		if wanted {
			return replace(object, last, old, path[1:], value, depth)
		}
	}
	return insert(object, last, path, value, depth), nil
}

// replace changes the member whose value ends at end.
func replace(object []byte, end int64, old jsontext.Value, rest []string, value []byte, depth int) ([]byte, error) {
	if len(rest) > 0 {
		inner, err := splice(old.Clone(), rest, value, depth+1)
		if err != nil {
			return nil, err
		}
		value = inner
	}
	start := end - int64(len(old))
	return bytes.Join([][]byte{object[:start], value, object[end:]}, nil), nil
}

// insert adds a member behind the last one, which ends at last.
func insert(object []byte, last int64, path []string, value []byte, depth int) []byte {
	var b bytes.Buffer
	b.Write(object[:last])
	empty := object[last-1] == '{'
	if !empty {
		b.WriteByte(',')
	}
	b.WriteString("\n" + strings.Repeat("  ", depth))
	b.WriteString(member(path, value))
	if empty {
		b.WriteString("\n" + strings.Repeat("  ", depth-1))
	}
	b.Write(object[last:])
	return b.Bytes()
}

// member writes "a": {"b": value} for the path a, b.
func member(path []string, value []byte) string {
	text := fmt.Sprintf("%q: %s", path[len(path)-1], value)
	for i := len(path) - 2; i >= 0; i-- {
		text = fmt.Sprintf("%q: {%s}", path[i], text)
	}
	return text
}
