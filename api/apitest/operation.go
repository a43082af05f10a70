package apitest

import (
	"slices"
	"strconv"
	"strings"
)

// Operation is a method of a path.
type Operation struct {
	Method string
	Path   string

	doc  *Document
	node Node
}

func (o Operation) String() string { return o.Method + " " + o.Path }

// Action is what a signature for the operation says, empty where none is needed.
func (o Operation) Action() string { return o.node.Text("x-anet-action") }

// Node is where the operation stands.
func (o Operation) Node() Node { return o.node }

// Operations are all of them, sorted by path.
func (d *Document) Operations() []Operation { return d.operations }

func (d *Document) listOperations() (all []Operation) {
	paths, _ := d.Root().Child("paths")
	for _, path := range paths.Names() {
		item, _ := paths.Child(path)
		for _, method := range item.Names() {
			if node, _ := item.Child(method); method == "get" || method == "post" {
				all = append(all, Operation{strings.ToUpper(method), path, d, node})
			}
		}
	}
	return all
}

// Find finds the operation that a request is for. A path that stands as it is
// comes before one with parameters, as OpenAPI has it.
func (d *Document) Find(method, path string) (found Operation, ok bool) {
	for _, o := range d.operations {
		if o.Method != method || !fits(o.Path, path) {
			continue
		}
		if !ok || strings.Count(o.Path, "{") < strings.Count(found.Path, "{") {
			found, ok = o, true
		}
	}
	return found, ok
}

func fits(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool {
		return w == g || strings.HasPrefix(w, "{") && g != ""
	})
}

// response is the documented answer of a status; shared where operations have it
// in common.
func (o Operation) response(status int) (n Node, shared, ok bool) {
	all, _ := o.node.Child("responses")
	n, ok = all.Child(strconv.Itoa(status))
	if !ok {
		return n, false, false
	}
	shared = n.Text("$ref") != ""
	n, err := o.doc.Resolve(n)
	return n, shared, err == nil
}

// Statuses are those it documents.
func (o Operation) Statuses() (all []int) {
	responses, _ := o.node.Child("responses")
	for _, name := range responses.Names() {
		status, _ := strconv.Atoi(name)
		all = append(all, status)
	}
	return all
}

// Codes are those it documents for a status. They are shared where the whole
// answer is one that operations have in common.
func (o Operation) Codes(status int) (codes []string, shared bool) {
	n, shared, ok := o.response(status)
	if !ok {
		return nil, false
	}
	return CodesOf(n), shared
}

// CodesOf are the codes of a documented answer: its schema is that of all
// problems, and a second one that says which codes it can have. Between hubs it is
// the labels.
func CodesOf(response Node) (codes []string) {
	for _, name := range []string{"content", "application/json", "schema", "allOf"} {
		response, _ = response.Child(name)
	}
	both, _ := response.Value.([]any)
	if len(both) != 2 {
		return nil
	}
	said, _ := Node{Value: both[1]}.Child("properties")
	of, ok := said.Child("code")
	if !ok {
		of, _ = said.Child("error")
	}
	of, _ = of.Child("enum")
	list, _ := of.Value.([]any)
	for _, code := range list {
		codes = append(codes, code.(string))
	}
	return codes
}
