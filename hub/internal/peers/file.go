package peers

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Entry is a peer of a file, and where it stands there.
type Entry struct {
	Peer
	At string // "line 7, /peers/2"
}

// Fault is an error with the entry it is about.
func (e Entry) Fault(err error) error { return fmt.Errorf("%s: %w", e.At, err) }

// ParseFile reads the file of --peers-file. An error names the line and the key:
// it is met by somebody who edits. A hub is no peer of its own, so self is none.
func ParseFile(text []byte, self string) ([]Entry, error) {
	var file struct {
		Peers []fileEntry `json:"peers"`
	}
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, located(text, err)
	}
	if file.Peers == nil {
		return nil, badFile("/peers is missing: without peers it is []")
	}
	var out []Entry
	for i, f := range file.Peers {
		e := f.entry(fmt.Sprintf("line %d, /peers/%d", lineAt(text, f.at), i))
		if err := e.fits(out, self); err != nil {
			return nil, e.Fault(err)
		}
		out = append(out, e)
	}
	return out, nil
}

// fits holds an entry to those before it.
func (e Entry) fits(before []Entry, self string) error {
	switch {
	case e.AID == "":
		return badFile("aid is missing: it is what \"anet-hub identity show\" says over there").In("aid")
	case e.Endpoint == "":
		return badFile("endpoint is missing").In("endpoint")
	case e.AID == self:
		return badFile("aid is this hub's own: it is no peer of its own").In("aid")
	}
	for _, other := range before {
		if err := e.differs(other.Peer); err != nil {
			return err
		}
	}
	return nil
}

// differs fails where two peers have one of what each has alone.
func (p Peer) differs(other Peer) error {
	switch {
	case p.AID == other.AID:
		return Known(other)
	case p.Endpoint == other.Endpoint:
		return EndpointTaken(other)
	case p.Name == other.Name:
		return NameTaken(p.Name)
	}
	return nil
}

func badFile(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "peers_file_invalid", format, args...)
}

// fileEntry is an entry as it is written. Its members refuse what they cannot be,
// so that the decoder knows where.
type fileEntry struct {
	Endpoint  endpointText `json:"endpoint"`
	AID       aidText      `json:"aid"`
	Name      nameText     `json:"name"`
	Delivery  switchText   `json:"delivery"`
	Discovery switchText   `json:"discovery"`

	at int64
}

func (f fileEntry) entry(at string) Entry {
	p := Peer{AID: string(f.AID), Endpoint: string(f.Endpoint), Name: string(f.Name), FromFile: true,
		Delivery: f.Delivery != switchText(Off), Discovery: f.Discovery != switchText(Off)}
	if p.Name == "" {
		p.Name = NameFor(p.Endpoint)
	}
	return Entry{p, at}
}

// UnmarshalJSONFrom remembers where the entry begins.
func (f *fileEntry) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain fileEntry
	at := dec.InputOffset()
	err := json.UnmarshalDecode(dec, (*plain)(f))
	f.at = at
	return err
}

type (
	endpointText string
	aidText      string
	nameText     string
	switchText   Switch
)

func (t *endpointText) UnmarshalText(b []byte) error {
	s, err := ParseEndpoint(string(b))
	*t = endpointText(s)
	return err
}

func (t *aidText) UnmarshalText(b []byte) error {
	if *t = aidText(b); !identity.ValidAID(string(b)) {
		return badFile("%.80q is no AID", b)
	}
	return nil
}

func (t *nameText) UnmarshalText(b []byte) error {
	*t = nameText(b)
	return checkName(string(b))
}

func (t *switchText) UnmarshalText(b []byte) error {
	if *t = switchText(b); string(b) != string(On) && string(b) != string(Off) {
		return badFile("it is \"on\" or \"off\", not %.40q", b)
	}
	return nil
}

// located says where in the file something is wrong.
func located(text []byte, err error) error {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &meaning):
		return fault(text, meaning.ByteOffset, meaning.JSONPointer, meaningOf(meaning))
	case errors.As(err, &syntax):
		return fault(text, syntax.ByteOffset, syntax.JSONPointer, badFile("it is no JSON: %v", syntax.Err))
	}
	return badFile("it is no JSON value").Because(err)
}

func meaningOf(e *json.SemanticError) error {
	var said *errs.Error
	switch {
	case errors.As(e.Err, &said):
		return said
	case errors.Is(e.Err, json.ErrUnknownName):
		return badFile("there is no such key: an entry has endpoint, aid, name, delivery and discovery")
	}
	return badFile("a value of this kind does not belong there")
}

func fault(text []byte, offset int64, at jsontext.Pointer, err error) error {
	return fmt.Errorf("line %d, %s: %w", lineAt(text, offset), at, err)
}

// lineAt is the line of the first thing at or behind an offset.
func lineAt(text []byte, offset int64) int {
	before := text[:min(int(offset), len(text))]
	behind := text[len(before):]
	skipped := len(behind) - len(bytes.TrimLeft(behind, " \t\r\n,:"))
	return 1 + bytes.Count(text[:len(before)+skipped], []byte("\n"))
}
