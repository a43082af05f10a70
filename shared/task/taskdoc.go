package task

import (
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// MaxDocItems bounds the CBOR items of a TaskDoc: in memory an item takes
// hundreds of times its one byte on the wire.
const MaxDocItems = 65_536

// TaskDoc says what is asked for (section F.2). Empty members are left out.
type TaskDoc struct {
	Version  Version            `cbor:"1,keyasint"`
	Meta     []Meta             `cbor:"2,keyasint,omitempty"`
	Links    []Link             `cbor:"3,keyasint,omitempty"`
	Tasks    []Task             `cbor:"4,keyasint"`
	Critical []codec.RawMessage `cbor:"7,keyasint,omitempty"` // carried, not understood
}

// Version of the document's form. Only the major number is signed.
type Version struct {
	Major uint64 `cbor:"1,keyasint"`
	Minor uint64 `cbor:"2,keyasint,omitempty"`
}

// Meta is a note beside the request, outside its signature.
type Meta struct {
	Name  string `cbor:"1,keyasint"`
	Value string `cbor:"2,keyasint,omitempty"`
}

// Link points to something the request belongs to.
type Link struct {
	Rel   string `cbor:"1,keyasint"`
	Href  string `cbor:"2,keyasint,omitempty"`
	Title string `cbor:"3,keyasint,omitempty"`
}

// Task is one piece of work.
type Task struct {
	ID       string     `cbor:"1,keyasint,omitempty"`
	Intent   Intent     `cbor:"10,keyasint"`
	Requires []Require  `cbor:"11,keyasint,omitempty"`
	Accepts  []Accept   `cbor:"12,keyasint,omitempty"`
	Contexts []Context  `cbor:"13,keyasint,omitempty"`
	Within   *Predicate `cbor:"14,keyasint,omitempty"` // positive scope
	Without  *Predicate `cbor:"15,keyasint,omitempty"` // negative scope
	Coupling int64      `cbor:"16,keyasint,omitempty"`
}

// Intent is the goal in words.
type Intent struct {
	Summary string `cbor:"1,keyasint,omitempty"`
	Format  string `cbor:"2,keyasint,omitempty"`
	Body    string `cbor:"3,keyasint"`
}

// Require is something the work needs, such as a capability.
type Require struct {
	ID        string `cbor:"1,keyasint,omitempty"`
	Type      string `cbor:"2,keyasint,omitempty"`
	Necessity string `cbor:"3,keyasint,omitempty"`
	Desc      string `cbor:"4,keyasint,omitempty"`
}

// Accept is a form the requester would take the answer in.
type Accept struct {
	Type    string   `cbor:"1,keyasint,omitempty"`
	Desc    string   `cbor:"2,keyasint,omitempty"`
	Outputs []Output `cbor:"3,keyasint,omitempty"`
	Schema  *Schema  `cbor:"4,keyasint,omitempty"`
}

// Output is one file or text of an answer.
type Output struct {
	Format  string `cbor:"1,keyasint,omitempty"`
	MaxSize uint64 `cbor:"2,keyasint,omitempty"`
	Name    string `cbor:"3,keyasint,omitempty"`
}

// Schema describes an answer's structure.
type Schema struct {
	Type string           `cbor:"1,keyasint,omitempty"`
	Body codec.RawMessage `cbor:"2,keyasint,omitempty"`
}

// Context is a named value the work starts from.
type Context struct {
	Key        string `cbor:"1,keyasint"`
	Value      string `cbor:"2,keyasint,omitempty"`
	Src        string `cbor:"3,keyasint,omitempty"`
	Format     string `cbor:"4,keyasint,omitempty"`
	Visibility string `cbor:"5,keyasint,omitempty"`
}

// Bytes is the document as it will be carried.
func (d TaskDoc) Bytes() ([]byte, error) { return codec.Marshal(d) }

var docs = codec.NewDecoder(codec.MaxElements).Within(MaxDocItems)

// ParseTaskDoc reads the document as carried.
func ParseTaskDoc(raw []byte) (TaskDoc, error) {
	var d TaskDoc
	if err := docs.Unmarshal(raw, &d); err != nil {
		return d, badDoc("cannot be read").Because(err)
	}
	if d.Version.Major != 1 {
		return d, badDoc("has version %d, not 1", d.Version.Major)
	}
	if len(d.Tasks) == 0 {
		return d, badDoc("asks for nothing")
	}
	return d, nil
}

// signedDoc is the part of a document its signature covers, each member as it
// was written: members a later version adds to a task stay covered.
type signedDoc struct {
	Version struct {
		Major uint64 `cbor:"1,keyasint"`
	} `cbor:"1,keyasint"`
	Links codec.RawMessage `cbor:"3,keyasint"`
	Tasks codec.RawMessage `cbor:"4,keyasint"`
}

// DocPreimage is what the requester signs: the document without its minor
// version, its meta and its critical list.
func DocPreimage(raw []byte) ([]byte, error) {
	var d signedDoc
	if err := docs.Unmarshal(raw, &d); err != nil {
		return nil, badDoc("cannot be read").Because(err)
	}
	m := map[uint64]any{1: d.Version, 4: d.Tasks}
	if !emptyItem(d.Links) {
		m[3] = d.Links
	}
	b, err := codec.Marshal(m)
	if err != nil {
		return nil, badDoc("cannot be signed").Because(err)
	}
	return codec.Canonical(b)
}

// emptyItem tells null and the empty list from links.
func emptyItem(raw codec.RawMessage) bool {
	return len(raw) == 0 || raw[0] == 0xf6 || raw[0] == 0x80
}

// MaxDoc bounds the document a node reads. Texts of megabytes go as files: a
// document is decoded, encoded and decoded again before it is believed.
const MaxDoc = 16 << 20

// RequestCID names a request: the content id of its bytes as carried.
func RequestCID(taskDoc []byte) string { return codec.CID(taskDoc) }

func badDoc(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "bad-task-doc", "the task document "+format, args...)
}
