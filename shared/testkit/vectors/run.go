package vectors

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
)

// remarks are members whose edit changes nothing.
var remarks = []string{"name", "source", "note", "derived", "comment", "rule"}

// Test runs every vector of a file. Then it edits one value of the file after
// the other and wants each edit noticed; free names the members for which an
// edit may rightly pass, such as the inputs of a refusal.
func Test(t *testing.T, path string, free ...string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	vs, err := parse(Family(path), data)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vs {
		if err := v.Check(); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
	for where, edited := range edits(t, data, append(free, remarks...)) {
		if passes(Family(path), edited) {
			t.Errorf("an edit of %s goes unnoticed", where)
		}
	}
}

func passes(family string, data []byte) bool {
	vs, err := parse(family, data)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(vs, func(v Vector) bool { return v.Check() != nil })
}

// edits are the copies of a file with one value changed, by where it stood.
func edits(t *testing.T, data []byte, free []string) map[string][]byte {
	t.Helper()
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	var walk func(where string, v any, set func(any))
	walk = func(where string, v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if !slices.Contains(free, name) {
					walk(where+"."+name, member, func(x any) { v[name] = x })
				}
			}
		case []any:
			for i, element := range v {
				walk(fmt.Sprintf("%s[%d]", where, i), element, func(x any) { v[i] = x })
			}
		default:
			set(changed(v))
			b, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			set(v)
			out[where] = b
		}
	}
	walk("", root, func(any) {})
	return out
}

func changed(v any) any {
	switch v := v.(type) {
	case string:
		return changedText(v)
	case float64:
		return v + 1
	case bool:
		return !v
	default:
		return "null no more"
	}
}

// changedText differs in its last character, and stays hex or a number.
func changedText(s string) string {
	if s == "" {
		return "0"
	}
	last := byte('0')
	if s[len(s)-1] == last {
		last = '1'
	}
	return s[:len(s)-1] + string(last)
}
