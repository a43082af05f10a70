package task

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
)

// Checklist 32: every request has a nonce, and so another content id.
func TestNewCall(t *testing.T) {
	doc, err := NewCall("text.digest", json.RawMessage(`{ "text": "a <b>", "n": 12345678901234567890 }`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := doc.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseTaskDoc(raw)
	if err != nil {
		t.Fatal(err)
	}
	call, ok := read.Call()
	if want := `{"text":"a <b>","n":12345678901234567890}`; !ok || call.Capability != "text.digest" || string(call.Args) != want {
		t.Errorf("Call = %s %s, %v, want text.digest %s", call.Capability, call.Args, ok, want)
	}
	if n, err := codec.DecodeB64u(read.Nonce()); err != nil || len(n) != 16 {
		t.Errorf("nonce %q, want 16 bytes", read.Nonce())
	}
	if read.Goal() != "invoke capability text.digest" {
		t.Errorf("goal = %q", read.Goal())
	}
	other, _ := NewCall("text.digest", nil)
	otherRaw, _ := other.Bytes()
	if c, ok := other.Call(); !ok || string(c.Args) != "{}" || RequestCID(raw) == RequestCID(otherRaw) {
		t.Errorf("a call without arguments = %s, %v", c.Args, ok)
	}
	for _, args := range []string{`[]`, `null`, `{"a":1,"A":2}`, `{`} {
		if _, err := NewCall("x", json.RawMessage(args)); err == nil {
			t.Errorf("NewCall takes the arguments %s", args)
		}
	}
}

func TestCallIsRead(t *testing.T) {
	capability := Require{ID: "cas.put", Type: "capability", Necessity: "must"}
	for _, tt := range []struct {
		name     string
		requires []Require
		contexts []Context
		want     string
		ok       bool
	}{
		{"no arguments are an empty object", []Require{capability}, nil, "cas.put {}", true},
		{"the first of several", []Require{{ID: "disk", Type: "resource"}, {Type: "capability"}, capability, {ID: "x", Type: "capability"}}, nil, "cas.put {}", true},
		{"arguments in another format are none", []Require{capability}, []Context{{Key: "args", Value: "x", Format: "yaml"}}, "cas.put {}", true},
		{"arguments", []Require{capability}, []Context{{Key: "args", Value: ` {"a": 1} `, Format: "json"}}, `cas.put {"a":1}`, true},
		{"a list is no arguments", []Require{capability}, []Context{{Key: "args", Value: `[]`, Format: "json"}}, " ", false},
		{"nor is nothing", []Require{capability}, []Context{{Key: "args", Format: "json"}}, " ", false},
		{"nor what reads in two ways", []Require{capability}, []Context{{Key: "args", Value: `{"a":1,"a":2}`, Format: "json"}}, " ", false},
		{"nor what is too much to read", []Require{capability}, []Context{{Key: "args", Value: `{"a":"` + strings.Repeat("x", MaxArgs) + `"}`, Format: "json"}}, " ", false},
		{"text", nil, nil, " ", false},
	} {
		doc := TaskDoc{Tasks: []Task{{Requires: tt.requires, Contexts: tt.contexts}}}
		c, ok := doc.Call()
		if got := c.Capability + " " + string(c.Args); ok != tt.ok || got != tt.want {
			t.Errorf("%s: Call = %q, %v, want %q, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestParseTaskDoc(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"a goal", "a2 01a10101 0481a10aa10361 78", true},
		{"null lists", "a4 01a10101 02f6 03f6 0481a10aa1036178", true},
		{"null members of a task", "a2 01a10101 0481a3 0aa1036178 0bf6 0ef6", true},
		{"null for a child of a predicate", "a2 01a10101 0481a2 0aa1036178 0ea2 0101 0282f6a10101", true},
		{"members nobody knows", "a3 01a10101 0481a20aa10361781863 01 1863 01", true},
		{"critical numbers", "a3 01a10101 0481a10aa1036178 078109", true},
		{"critical words", "a3 01a10101 0481a10aa1036178 07816178", true},
		{"no task", "a2 01a10101 0480", false},
		{"null for the tasks", "a2 01a10101 04f6", false},
		{"another major version", "a2 01a10102 0481a10aa1036178", false},
		{"no version", "a1 0481a10aa1036178", false},
		{"a text", "6178", false},
		{"null", "f6", false},
		{"nothing", "", false},
		{"a member twice", "a3 01a10101 01a10101 0481a10aa1036178", false},
		{"a number for the goal", "a2 01a10101 0481a10aa10301", false},
	} {
		raw, err := hex.DecodeString(strings.ReplaceAll(tt.in, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseTaskDoc(raw); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want accepted %v", tt.name, err, tt.ok)
		}
	}
	big := append([]byte{0xa2, 0x01, 0xa1, 0x01, 0x01, 0x04}, codec.AppendHead(nil, 4, MaxDocItems)...)
	if _, err := ParseTaskDoc(append(big, bytes.Repeat([]byte{0xa0}, MaxDocItems)...)); err == nil {
		t.Error("a document of very many tasks is read")
	}
}

func TestDocPreimage(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"minor, meta and critical are outside", "a5 01a201010203 0281a2016 16e026176 0381a1016161 0481a10aa1036178 078109", "a3 01a10101 0381a1016161 0481a10aa1036178"},
		{"no links", "a2 01a10101 0481a10aa1036178", "a2 01a10101 0481a10aa1036178"},
		{"null links", "a3 01a10101 03f6 0481a10aa1036178", "a2 01a10101 0481a10aa1036178"},
		{"empty links", "a3 01a10101 0380 0481a10aa1036178", "a2 01a10101 0481a10aa1036178"},
		{"keys in any order", "a2 0481a2 0aa1036178 016131 01a10101", "a2 01a10101 0481a2 016131 0aa1036178"},
		{"what a later version adds to a task is covered", "a2 01a10101 0481a2 0aa1036178 1863 01", "a2 01a10101 0481a2 0aa1036178 1863 01"},
	} {
		raw, err := hex.DecodeString(strings.ReplaceAll(tt.in, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := DocPreimage(raw)
		if want := strings.ReplaceAll(tt.want, " ", ""); err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: DocPreimage = %x, %v, want %s", tt.name, got, err, want)
		}
	}
}

func TestPredicatesAreCarried(t *testing.T) {
	doc := newDoc(Task{
		Within: &Predicate{Op: OpAnd, Children: []*Predicate{
			{Op: OpArtifact, Artifact: &Artifact{PathGlob: "src/**", Exists: true, MinSize: 1, Contains: []string{"a"}}},
			{Op: OpTest, Test: &Test{ID: "unit", Expect: 1}},
			{Op: OpThreshold, Threshold: &Threshold{Metric: "cost", Op: 2, Value: 0}},
		}},
		Without:  &Predicate{Op: OpScope, Scope: &Scope{Verb: 3, Kind: 1, Selector: Selector{Match: 1, Value: "*"}}},
		Coupling: 2,
	})
	raw, err := doc.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseTaskDoc(raw)
	if err != nil {
		t.Fatal(err)
	}
	again, err := read.Bytes()
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("read and written again: %x, %v, want %x", again, err, raw)
	}
	if len(read.Tasks[0].Within.Children) != 3 || read.Tasks[0].Without.Scope.Selector.Value != "*" {
		t.Errorf("read %+v", read.Tasks[0])
	}
}
