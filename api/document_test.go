package api_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anet-hub/anet/api"
	"github.com/anet-hub/anet/api/apitest"
)

// The schema of OpenAPI 3.1 leaves Schema Objects open; these are compiled one by
// one, which holds them to JSON Schema.
func TestTheDocumentIsOpenAPI(t *testing.T) {
	file, err := os.Open("testdata/openapi-3.1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rules, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	const place = "https://spec.openapis.org/oas/3.1/schema"
	compiler := apitest.NewCompiler()
	if err := compiler.AddResource(place, rules); err != nil {
		t.Fatal(err)
	}
	document, err := apitest.FromYAML(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.MustCompile(place).Validate(document); err != nil {
		t.Error(err)
	}
}

func TestEverySchemaCompilesAndEveryReferenceLeadsSomewhere(t *testing.T) {
	d := apitest.Load(t)
	schemas := 0
	walk(d.Root(), func(n apitest.Node) {
		if _, err := d.Resolve(n); err != nil {
			t.Error(err)
		}
		if schema, ok := n.Child("schema"); ok && !strings.HasPrefix(n.Pointer, "/components/schemas/") {
			schemas++
			if _, err := d.Schema(schema); err != nil {
				t.Error(err)
			}
		}
	})
	named := child(d.Root(), "components", "schemas")
	for _, name := range named.Names() {
		if _, err := d.Schema(child(named, name)); err != nil {
			t.Error(err)
		}
	}
	if schemas < 50 || len(named.Names()) < 40 {
		t.Errorf("only %d schemas were found, %d with a name", schemas, len(named.Names()))
	}
}

// Whatever stands as an example is one.
func TestEveryExampleIsOne(t *testing.T) {
	d := apitest.Load(t)
	walk(d.Root(), func(n apitest.Node) {
		if _, ok := n.Child("schema"); !ok {
			return
		}
		for _, e := range examples(n) {
			if err := d.CheckValue(n, e.Value); err != nil {
				t.Errorf("%s: %v", e.Pointer, err)
			}
		}
	})
}

// What a reader needs of every operation.
func TestEveryOperationIsDescribed(t *testing.T) {
	d := apitest.Load(t)
	ids, tags := map[string]bool{}, tagNames(d)
	for _, o := range d.Operations() {
		n := o.Node()
		if id := n.Text("operationId"); id == "" || ids[id] {
			t.Errorf("%s: operationId %q is missing or another's", o, id)
		}
		ids[n.Text("operationId")] = true
		if n.Text("summary") == "" {
			t.Errorf("%s has no summary", o)
		}
		of, _ := n.Child("tags")
		if list, _ := of.Value.([]any); len(list) != 1 || !slices.Contains(tags, list[0].(string)) {
			t.Errorf("%s: tags %v, want one of %v", o, of.Value, tags)
		}
		_, secured := n.Child("security")
		if secured != (o.Action() != "") {
			t.Errorf("%s: security and x-anet-action belong together", o)
		}
		for _, status := range o.Statuses() {
			if codes, _ := o.Codes(status); status >= 400 && len(codes) == 0 {
				t.Errorf("%s: %d names no codes (allOf: a Problem, and the enum of its code; between hubs a FedProblem, and that of its error)", o, status)
			}
		}
		for _, at := range bodies(d, o) {
			if len(examples(at)) == 0 {
				t.Errorf("%s: %s has no example", o, at.Pointer)
			}
		}
	}
}

func tagNames(d *apitest.Document) (names []string) {
	list, _ := child(d.Root(), "tags").Value.([]any)
	for _, tag := range list {
		names = append(names, tag.(map[string]any)["name"].(string))
	}
	return names
}

// bodies are the JSON bodies of an operation's request and good answer.
func bodies(d *apitest.Document, o apitest.Operation) (all []apitest.Node) {
	request, _ := o.Node().Child("requestBody")
	for _, n := range []apitest.Node{request, child(o.Node(), "responses", "200")} {
		n, _ = d.Resolve(n)
		content := child(n, "content")
		for _, media := range content.Names() {
			if strings.HasSuffix(media, "json") {
				all = append(all, child(content, media))
			}
		}
	}
	return all
}

// The bodies stand twice, as Go types and as schemas: under the same names, with
// the same members.
func TestSchemasHaveTheMembersOfTheWire(t *testing.T) {
	schemas := child(apitest.Load(t).Root(), "components", "schemas")
	bodies := structs(t, "../shared/wire")
	for name, want := range bodies {
		got := child(schemas, name, "properties").Names()
		if name == "Problem" { // where a code may add members of its own
			got = slices.DeleteFunc(got, func(m string) bool { return !slices.Contains(want, m) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("wire.%s has the members %v, components/schemas/%s of api/openapi.yaml has %v", name, want, name, got)
		}
	}
	if len(bodies) < 30 {
		t.Errorf("only %d bodies were found", len(bodies))
	}
}

// structs reads the exported structs of a package and the members they have in
// JSON, sorted.
func structs(t *testing.T, dir string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if body, ok := spec.Type.(*ast.StructType); ok {
					all[spec.Name.Name] = members(body)
				}
			}
			return true
		})
	}
	return all
}

func members(body *ast.StructType) (names []string) {
	for _, f := range body.Fields.List {
		if f.Tag != nil {
			name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A mistyped name would be a member that every answer lacks.
func TestRequiredMembersAreNamed(t *testing.T) {
	schemas := child(apitest.Load(t).Root(), "components", "schemas")
	for _, name := range schemas.Names() {
		var required []string
		raw, _ := json.Marshal(child(schemas, name, "required").Value)
		_ = json.Unmarshal(raw, &required)
		known := child(schemas, name, "properties").Names()
		for _, member := range required {
			if !slices.Contains(known, member) {
				t.Errorf("schema %s requires %s, which it does not name", name, member)
			}
		}
	}
}

// examples are those beside a schema.
func examples(n apitest.Node) (all []apitest.Node) {
	if e, ok := n.Child("example"); ok {
		all = append(all, e)
	}
	named := child(n, "examples")
	for _, name := range named.Names() {
		all = append(all, child(named, name, "value"))
	}
	return all
}

func child(n apitest.Node, names ...string) apitest.Node {
	for _, name := range names {
		n, _ = n.Child(name)
	}
	return n
}

// walk visits every object.
func walk(n apitest.Node, see func(apitest.Node)) {
	if _, ok := n.Value.(map[string]any); ok {
		see(n)
	}
	for _, name := range n.Names() {
		walk(child(n, name), see)
	}
	list, _ := n.Value.([]any)
	for i, v := range list {
		walk(apitest.Node{Pointer: n.Pointer + "/" + string(rune('0'+i%10)), Value: v}, see)
	}
}
