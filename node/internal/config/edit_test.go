package config

import (
	"os"
	"testing"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
)

func TestEditsKeepEveryOtherByte(t *testing.T) {
	tests := []struct {
		name, before string
		edit         Edit
		after        string
	}{
		{"no file yet", "", SetName("n"), "{\n  \"name\": \"n\"\n}\n"},
		{"a value", `{ "name" :  "old" , "tags":[ ] }`, SetName("new"), `{ "name" :  "new" , "tags":[ ] }`},
		{"a new member", "{\n  \"name\": \"n\"\n}\n", SetTags([]string{"a", "b"}), "{\n  \"name\": \"n\",\n  \"tags\": [\"a\",\"b\"]\n}\n"},
		{"no tags are an empty list", `{"tags":["a"]}`, SetTags(nil), `{"tags":[]}`},
		{"inside", `{"inbound": {"policy": "open"}, "name": "n"}`, SetPolicy(Closed), `{"inbound": {"policy": "closed"}, "name": "n"}`},
		{"inside what is missing", `{"name":"n"}`, SetPolicy(Open), "{\"name\":\"n\",\n  \"inbound\": {\"policy\": \"open\"}}"},
		{"inside what lacks it", "{\"inbound\": {\"public_capabilities\": []}}", SetPolicy(Open), "{\"inbound\": {\"public_capabilities\": [],\n    \"policy\": \"open\"}}"},
		{"text is escaped", `{}`, SetReadme("a\"<\n"), "{\n  \"profile\": {\"readme\": \"a\\\"<\\n\"}\n}"},
	}
	for _, tt := range tests {
		got, err := apply([]byte(tt.before), []Edit{tt.edit})
		if err != nil || string(got) != tt.after {
			t.Errorf("%s: got %q, %v, want %q", tt.name, got, err, tt.after)
		}
	}
}

func TestUpdateLeavesABrokenFileAlone(t *testing.T) {
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file string
		edit       Edit
		invalid    bool // what was asked for, not the file
	}{
		{"broken before", `{"nam":"x"}`, SetName("n"), false},
		{"broken by the edit", `{"name":"x"}`, SetName("a\x00"), true},
	} {
		if err := os.WriteFile(dir.Path(FileName), []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Update(dir, tt.edit); err == nil || errs.Is(err, "setting_invalid") != tt.invalid {
			t.Errorf("%s: %v, want refused, setting_invalid %v", tt.name, err, tt.invalid)
		}
		if got, _ := dir.Read(FileName); string(got) != tt.file {
			t.Errorf("%s: the file became %q", tt.name, got)
		}
	}
	if err := os.Remove(dir.Path(FileName)); err != nil {
		t.Fatal(err)
	}
	if err := Update(dir, SetHubURL("https://h"), SetName("n")); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(dir); err != nil || c.HubURL != "https://h" || c.Name != "n" {
		t.Errorf("Load after Update = %+v, %v", c, err)
	}
}
