// Package apitest holds requests and answers of a hub to the document of its
// API: status, content type, headers, members and codes.
//
// The one rule its users must know: it is stricter than a client may be. A member
// that the document does not name is a mistake here, though clients ignore it.
package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/anet-hub/anet/api"
)

// Document is the API as it is documented.
type Document struct {
	root       any
	operations []Operation

	mu       sync.Mutex // a compiler is for one at a time
	compiler *jsonschema.Compiler
}

// place is the document's address for references within it.
const place = "file:///openapi.yaml"

var parsed = sync.OnceValues(parse)

// Load reads the document.
func Load(t testing.TB) *Document {
	t.Helper()
	d, err := parsed()
	if err != nil {
		t.Fatalf("api/openapi.yaml: %v", err)
	}
	return d
}

func parse() (*Document, error) {
	root, err := FromYAML(api.OpenAPI)
	if err != nil {
		return nil, err
	}
	d := &Document{root: root, compiler: NewCompiler()}
	strict, err := FromYAML(api.OpenAPI)
	if err != nil {
		return nil, err
	}
	forbidMore(strict)
	d.operations = d.listOperations()
	return d, d.compiler.AddResource(place, strict)
}

// NewCompiler reads schemas as OpenAPI 3.1 means them, and takes formats and
// encodings at their word.
func NewCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.AssertContent()
	return c
}

// FromYAML reads YAML as the JSON it stands for.
func FromYAML(raw []byte) (any, error) {
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w (a key that is no text, such as a status without quotes?)", err)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(plain))
}

// forbidMore closes every schema that names its members.
func forbidMore(node any) {
	switch node := node.(type) {
	case []any:
		for _, v := range node {
			forbidMore(v)
		}
	case map[string]any:
		_, members := node["properties"].(map[string]any)
		_, said := node["additionalProperties"]
		if node["type"] == "object" && members && !said {
			node["unevaluatedProperties"] = false
		}
		for _, v := range node {
			forbidMore(v)
		}
	}
}

// Node is a part of the document and where it stands.
type Node struct {
	Pointer string
	Value   any
}

// Root is the whole document.
func (d *Document) Root() Node { return Node{"", d.root} }

// Child is a member of an object; false where there is none.
func (n Node) Child(name string) (Node, bool) {
	object, _ := n.Value.(map[string]any)
	v, ok := object[name]
	return Node{n.Pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name), v}, ok
}

// Names are the members of an object, sorted.
func (n Node) Names() []string {
	object, _ := n.Value.(map[string]any)
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Text is a member that is one, else empty.
func (n Node) Text(name string) string {
	v, _ := n.Child(name)
	s, _ := v.Value.(string)
	return s
}

// Resolve follows a reference.
func (d *Document) Resolve(n Node) (Node, error) {
	ref := n.Text("$ref")
	if ref == "" {
		return n, nil
	}
	at := d.Root()
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		next, ok := at.Child(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		if !ok {
			return n, fmt.Errorf("%s: there is no %s", n.Pointer, ref)
		}
		at = next
	}
	return at, nil
}

// Schema compiles the schema that stands at a node.
func (d *Document) Schema(n Node) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiler.Compile(place + "#" + (&url.URL{Path: n.Pointer}).EscapedPath())
}
