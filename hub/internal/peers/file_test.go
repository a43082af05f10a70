package peers

import (
	"strings"
	"testing"
)

const (
	aidOne  = "bafyreigtala4crn2jjs7fzyuaxsknhnstc7joihe6n6gw6tg42ujzc2qbe"
	aidSelf = "bafyreihyrpefhacm6kkp4ql6j6udakdit7g3dmkzfriqfykhjw6cad7lrm"
	aidTwo  = "bafyreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
)

func TestParseFile(t *testing.T) {
	list, err := ParseFile([]byte(`{"peers": [
		{"endpoint": "https://One.example.org/", "aid": "`+aidOne+`"},
		{"endpoint": "http://10.0.0.7:8088", "aid": "`+aidTwo+`", "name": "lab", "delivery": "on", "discovery": "off"}
	]}`), "self")
	if err != nil || len(list) != 2 {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	want := Peer{AID: aidOne, Endpoint: "https://one.example.org", Name: "one-example-org", Delivery: true, Discovery: true, FromFile: true}
	if got := list[0]; got.AID != want.AID || got.Endpoint != want.Endpoint || got.Name != want.Name || !got.Delivery || !got.Discovery || !got.FromFile {
		t.Errorf("the first is %+v", got)
	}
	if got := list[1]; got.Name != "lab" || !got.Delivery || got.Discovery || got.At != "line 3, /peers/1" {
		t.Errorf("the second is %+v", got)
	}
	if list, err := ParseFile([]byte(`{"peers": []}`), ""); err != nil || len(list) != 0 {
		t.Errorf("without peers: %v, %v", list, err)
	}
}

func TestParseFileSaysWhere(t *testing.T) {
	one := `{"endpoint": "https://one", "aid": "` + aidOne + `"}`
	tests := []struct{ text, where, what string }{
		{"", "", "no JSON"},
		{"{}", "", "/peers is missing"},
		{"{\n\"peers\": [\n}", "line 3", "no JSON"},
		{"{\"peers\": [\n{\"endpoint\": \"https://one\",\n\"url\": 1}]}", "line 3, /peers/0/url", "no such key"},
		{"{\"peer\": []}", "line 1, /peer", "no such key"},
		{"{\"peers\": [\n" + one + ",\n{\"aid\": \"" + aidTwo + "\"}]}", "line 3, /peers/1", "endpoint is missing"},
		{"{\"peers\": [\n\n{\"endpoint\": \"https://one\"}]}", "line 3, /peers/0", "aid is missing"},
		{"{\"peers\": [{\n\"endpoint\": \"https://one\",\n\"aid\": \"bafy\"}]}", "line 3, /peers/0/aid", "no AID"},
		{"{\"peers\": [{\n\"endpoint\":\n \"one\"}]}", "line 3, /peers/0/endpoint", "begins with https://"},
		{"{\"peers\": [{\n\"name\": \"One\"}]}", "line 2, /peers/0/name", "a peer's name"},
		{"{\"peers\": [{\n\"delivery\": \"yes\"}]}", "line 2, /peers/0/delivery", `"on" or "off"`},
		{"{\"peers\": [{\n\"delivery\": true}]}", "line 2, /peers/0/delivery", "of this kind"},
		{"{\"peers\": [{\n\"name\": \"a\",\n\"name\": \"a\"}]}", "line 3, /peers/0/name", "duplicate"},
		{"{\"peers\": [\n" + one + ",\n" + one + "]}", "line 3, /peers/1", "a peer already"},
		{"{\"peers\": [\n" + one + ",\n" + strings.Replace(one, aidOne, aidTwo, 1) + "]}", "line 3, /peers/1", "address is that of"},
		{"{\"peers\": [\n" + one + ",\n{\"endpoint\": \"http://one\", \"aid\": \"" + aidTwo + "\"}]}", "line 3, /peers/1", "called one"},
		{"{\"peers\": [\n{\"endpoint\": \"http://one\", \"aid\": \"" + aidSelf + "\"}]}", "line 2, /peers/0", "this hub's own"},
	}
	for _, tt := range tests {
		_, err := ParseFile([]byte(tt.text), aidSelf)
		if err == nil || !strings.HasPrefix(err.Error(), tt.where) || !strings.Contains(err.Error(), tt.what) {
			t.Errorf("%s\nsays %v, want %s … %s", tt.text, err, tt.where, tt.what)
		}
	}
}
