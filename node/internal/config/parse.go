package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/node/internal/datadir"
)

// MaxSize bounds the file; beyond it something else was put in its place.
const MaxSize = 1 << 20

// Load reads the folder's file; a node without one has the defaults.
func Load(dir datadir.Dir) (*Config, error) {
	data, err := dir.Read(FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", FileName, err)
	}
	return Parse(data)
}

// Parse reads the file's bytes. Its error is Problems, in the order in which
// they stand in the file.
func Parse(data []byte) (*Config, error) {
	if len(data) > MaxSize {
		return nil, Problems{{Message: fmt.Sprintf("the file is larger than %d bytes", MaxSize)}}
	}
	r := reader{data: data, at: map[jsontext.Pointer]int64{}}
	if err := r.survey(); err != nil {
		return nil, r.broken(err)
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	c := Default()
	if err := json.Unmarshal(data, c, json.RejectUnknownMembers(true)); err != nil {
		return nil, r.broken(err)
	}
	c.check(r.problem)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return c, nil
}

// reader remembers where every value of the file begins, so that a rule that
// finds fault with a value can point at it.
type reader struct {
	data     []byte
	at       map[jsontext.Pointer]int64
	problems Problems
}

// problem notes a fault with the value at a pointer, or at the nearest place
// around it when the file does not say it itself.
func (r *reader) problem(p jsontext.Pointer, format string, args ...any) {
	where := p
	for where != "" && !r.has(where) {
		where = where.Parent()
	}
	r.note(p, r.at[where], fmt.Sprintf(format, args...))
}

func (r *reader) has(p jsontext.Pointer) bool { _, ok := r.at[p]; return ok }

func (r *reader) note(p jsontext.Pointer, offset int64, message string) {
	line, column := place(r.data, offset)
	r.problems = append(r.problems, Problem{line, column, string(p), message})
}

// survey walks the file beside the types it is read into and notes every key
// that has no place there.
func (r *reader) survey() error {
	d := jsontext.NewDecoder(bytes.NewReader(r.data))
	if kind := d.PeekKind(); kind != '{' && kind != 0 {
		r.note("", 0, "the file must hold one JSON object")
		return nil
	}
	if err := r.value(d, reflect.TypeFor[Config]()); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err == nil {
		return errors.New("more than one JSON value in the file")
	} else if err != io.EOF {
		return err
	}
	return nil
}

func (r *reader) value(d *jsontext.Decoder, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := d.PeekKind(); {
	case kind == '{' && t.Kind() == reflect.Struct:
		return r.inside(d, '}', func() error { return r.member(d, members(t)) })
	case kind == '[' && t.Kind() == reflect.Slice:
		return r.inside(d, ']', func() error { return r.value(d, t.Elem()) })
	}
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	start := d.InputOffset() - int64(len(v))
	r.at[d.StackPointer()] = start
	if v.Kind() == 'n' {
		r.note(d.StackPointer(), start, "null says nothing; take the key out")
	}
	return nil
}

// inside reads an object or a list, each part of it by next.
func (r *reader) inside(d *jsontext.Decoder, end jsontext.Kind, next func() error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	r.at[d.StackPointer()] = d.InputOffset() - 1
	for kind := d.PeekKind(); kind != end && kind != 0; kind = d.PeekKind() {
		if err := next(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (r *reader) member(d *jsontext.Decoder, known map[string]reflect.Type) error {
	quoted, err := d.ReadValue()
	if err != nil {
		return err
	}
	start := d.InputOffset() - int64(len(quoted))
	name, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return err
	}
	if t, ok := known[string(name)]; ok {
		return r.value(d, t)
	}
	r.note(d.StackPointer(), start, unknown(d.StackPointer(), string(name), known))
	return d.SkipValue()
}

// unknown is the sentence for a key that has no place.
func unknown(p jsontext.Pointer, name string, known map[string]reflect.Type) string {
	if why, ok := notYet(p); ok {
		return fmt.Sprintf("%s: %s", readable(p), why)
	}
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("unknown key %q in %s; did you mean %q?", name, within(p), near)
	}
	return fmt.Sprintf("unknown key %q in %s", name, within(p))
}

func within(p jsontext.Pointer) string {
	if parent := readable(p.Parent()); parent != "" {
		return parent
	}
	return "the file"
}

// broken turns the parser's error into a Problem with a place.
func (r *reader) broken(err error) Problems {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		r.note(syntax.JSONPointer, syntax.ByteOffset, "not valid JSON: "+syntax.Err.Error())
	case errors.As(err, &meaning):
		r.problem(meaning.JSONPointer, "%s: %s", readable(meaning.JSONPointer), wanted(meaning))
	case errors.Is(err, io.EOF):
		r.note("", 0, "the file is empty; a file that says nothing is {}")
	default:
		r.note("", int64(len(r.data)), err.Error())
	}
	return r.problems
}

// wanted says what a value of the wrong kind should have been.
func wanted(e *json.SemanticError) string {
	names := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false", reflect.Slice: "a list",
		reflect.Struct: "an object", reflect.Int: "a whole number", reflect.Int64: "a whole number",
		reflect.Uint64: "a whole number of at least 0",
	}
	t := e.GoType
	if t == reflect.TypeFor[Duration]() {
		return errDuration.Error()
	}
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "not a value this key takes"
	}
	return "want " + names[t.Kind()]
}
