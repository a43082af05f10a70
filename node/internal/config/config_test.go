package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// full is every key of the file at once.
const full = `{
  "hub_url": "https://hub.example.org/",
  "name": "translator",
  "tags": ["coding", "日本語"],
  "profile": {"summary": "Translates.", "readme": "Two\nlines.", "pricing": "free"},
  "inbound": {
    "policy": "open",
    "public_capabilities": [
      {"id": "text.summarize"},
      {"id": "text.translate", "per_caller_per_min": 20, "per_caller_per_day": 30, "global_per_min": 40,
       "max_inflight": 5, "per_caller_inflight": 2, "max_args_bytes": 8192}
    ],
    "strangers": {"max_tasks": 7, "per_caller_bytes": 9000}
  },
  "modules": {"service": {
    "allow_tcp": true, "token_file": "/run/token", "timeout_ms": 1000,
    "capabilities": [
      {"id": "text.summarize", "url": "unix:///run/user/1000/summarize.sock"},
      {"id": "text.translate", "url": "http://127.0.0.1:8080/t", "price": 3, "description": "d", "name": "n",
       "tags": ["x"], "examples": ["e"], "input_modes": ["text/plain"], "output_modes": ["text/plain"],
       "timeout_ms": 90000, "token_file": "/run/other"}
    ]}},
  "no_response_after": "30m"
}`

func TestParseReadsEveryKey(t *testing.T) {
	c, err := Parse([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	svc := c.Modules.Service
	checks := []struct {
		what      string
		got, want any
	}{
		{"policy", c.Inbound.Policy, Open},
		{"tags", strings.Join(c.Tags, " "), "coding 日本語"},
		{"default public", c.Inbound.PublicCapabilities[0], DefaultPublic("text.summarize")},
		{"spelt out public", c.Inbound.PublicCapabilities[1], PublicCapability{"text.translate", 20, 30, 40, 5, 2, 8192}},
		{"strangers", c.Inbound.Strangers, Strangers{7, 256 << 20, 10, 9000}},
		{"module limit", svc.Limit(svc.Capabilities[0]), time.Second},
		{"own limit", svc.Limit(svc.Capabilities[1]), 90 * time.Second},
		{"module token", svc.Token(svc.Capabilities[0]), "/run/token"},
		{"own token", svc.Token(svc.Capabilities[1]), "/run/other"},
		{"price", svc.Capabilities[1].Price, uint64(3)},
		{"silence", time.Duration(c.NoResponseAfter), 30 * time.Minute},
	}
	for _, k := range checks {
		if k.got != k.want {
			t.Errorf("%s = %v, want %v", k.what, k.got, k.want)
		}
	}
}

func TestTheExampleIsAccepted(t *testing.T) {
	data, err := os.ReadFile("../../../deploy/examples/text-service/config.example.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, served := range c.Modules.Service.Capabilities {
		if _, ok := c.Public(served.ID); !ok {
			t.Errorf("the example serves %s to nobody", served.ID)
		}
	}
}

func TestDefaultsAreClosed(t *testing.T) {
	c, err := Parse([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Inbound.Policy != Closed || len(c.Inbound.PublicCapabilities) != 0 || c.Modules.Service != nil {
		t.Errorf("an empty file opens something: %+v", c)
	}
	if got := time.Duration(c.NoResponseAfter); got != 15*time.Minute {
		t.Errorf("no_response_after = %v, want 15m", got)
	}
	if got := (&Service{}).Limit(ServiceCapability{}); got != 2*time.Minute {
		t.Errorf("limit of a call = %v, want 2m", got)
	}
}

// forSale is a node that sells n capabilities through the gateway.
func forSale(n int, price uint64) string {
	var public, sold []string
	for i := range n {
		public = append(public, fmt.Sprintf(`{"id":"a%d"}`, i))
		sold = append(sold, fmt.Sprintf(`{"id":"a%d","url":"unix:///a","price":%d,"gateway":true}`, i, price))
	}
	return `{"inbound":{"public_capabilities":[` + strings.Join(public, ",") + `]},"modules":{"x402":{"listen":"127.0.0.1:1","url":"https://a/r"},` +
		`"service":{"capabilities":[` + strings.Join(sold, ",") + `]}}}`
}

func TestProblemsSayWhereAndWhat(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"misspelt key", "{\n  \"hub_ur\": \"https://h\"\n}", `2:3: unknown key "hub_ur" in the file; did you mean "hub_url"?`},
		{"other spelling", `{"inbound":{"publicCapabilities":[]}}`, `1:13: unknown key "publicCapabilities" in inbound; did you mean "public_capabilities"?`},
		{"key in a list", "{\"inbound\":{\"public_capabilities\":[\n{\"id\":\"a\"},\n{\"id\":\"b\",\"per_caler_per_min\":3}]}}",
			`3:11: unknown key "per_caler_per_min" in inbound.public_capabilities[1]; did you mean "per_caller_per_min"?`},
		{"nothing like it", `{"zzzzzzzz":1}`, `1:2: unknown key "zzzzzzzz" in the file`},
		{"allow_only", `{"inbound":{"public_capabilities":[{"id":"a","allow_only":true}]}}`, "allow_only is not built yet"},
		{"files", `{"inbound":{"public_capabilities":[{"id":"a","files":{"max":1}}]}}`, "capabilities with files are not built yet"},
		{"discard", `{"inbound":{"public_capabilities":[{"id":"a","discard":true}]}}`, "discard is not built yet"},
		{"auto_reply", `{"auto_reply":{}}`, "1:2: auto_reply: automatic replies are not built yet"},
		{"approve", `{"inbound":{"policy":"approve"}}`, `1:22: policy "approve" is not built yet`},
		{"gateway without a price", service(`"url":"unix:///a","gateway":true`), "has no price to be sold for"},
		{"gateway, not public", service(`"url":"unix:///a","price":1,"gateway":true`), "inbound.public_capabilities"},
		{"gateway without a place", `{"inbound":{"public_capabilities":[{"id":"a"}]},"modules":{"service":{"capabilities":[{"id":"a","url":"unix:///a","price":1,"gateway":true}]}}}`, "say where, in modules.x402"},
		{"gateway at a price that no card says", forSale(1, 1<<53), "for more than 9007199254740991 credits"},
		{"gateway with more than a card has room for", forSale(51, 1), "at most 50 capabilities"},
		{"a price beyond all", service(`"url":"unix:///a","price":9223372036854775808`), "price must be below 2^63"},
		{"a limit beyond all", `{"payments":{"daily_max":9223372036854775808}}`, "1:26: daily_max must be below 2^63"},
		{"a limit below zero", `{"payments":{"daily_max":-1}}`, "daily_max: want a whole number of at least 0"},
		{"a payee by name", `{"payments":{"payees":["bob"]}}`, "no full AID"},
		{"unbuilt module", `{"modules":{"shell":{}}}`, "1:13: modules.shell: this module is not in this build"},
		{"vouchers taken nowhere", `{"modules":{"x402":{}}}`, "listen must be an address"},
		{"vouchers at no address", `{"modules":{"x402":{"listen":"127.0.0.1:1","url":"node.example.org"}}}`, "url must be where others reach it"},
		{"old caps", `{"caps":["a"]}`, "words of your own go into tags"},
		{"policy", `{"inbound":{"policy":"Open"}}`, `1:22: policy must be "closed" or "open"`},
		{"zero limit", `{"inbound":{"public_capabilities":[{"id":"a","per_caller_per_min":0}]}}`, "1:67: per_caller_per_min must be from 1"},
		{"arguments no call can have", `{"inbound":{"public_capabilities":[{"id":"a","max_args_bytes":4194305}]}}`, "max_args_bytes must be from 1 to 4194304"},
		{"inflight", `{"inbound":{"public_capabilities":[{"id":"a","max_inflight":2,"per_caller_inflight":3}]}}`, "per_caller_inflight (3) is more than max_inflight (2)"},
		{"id twice", `{"inbound":{"public_capabilities":[{"id":"a"},{"id":"a"}]}}`, "stands twice"},
		{"no id", `{"inbound":{"public_capabilities":[{}]}}`, "1:36: capability id \"\""},
		{"bad id", `{"inbound":{"public_capabilities":[{"id":"a..b"}]}}`, "1:42: "},
		{"tag", `{"tags":["ok","a,b"]}`, `1:15: tag "a,b" cannot be looked up`},
		{"tag twice", `{"tags":["a","a"]}`, "stands twice"},
		{"duration", `{"no_response_after":"soon"}`, "1:22: no_response_after: want a duration"},
		{"duration as number", `{"no_response_after":15}`, "want a duration"},
		{"wrong kind", `{"inbound":{"public_capabilities":[{"id":"a","max_inflight":"2"}]}}`, "max_inflight: want a whole number"},
		{"list for object", `{"inbound":[]}`, "inbound: want an object"},
		{"null", `{"inbound":null}`, "1:12: null says nothing"},
		{"duplicate key", `{"name":"a","name":"b"}`, "duplicate"},
		{"not JSON", "{\n\"name\": nope}", "2:10: not valid JSON"},
		{"cut off", `{"name":"a"`, "1:12: not valid JSON"},
		{"two values", `{}{}`, "more than one JSON value"},
		{"a list", `[]`, "1:1: the file must hold one JSON object"},
		{"empty", ``, "the file is empty"},
		{"hub without scheme", `{"hub_url":"hub.example.org"}`, "1:12: hub_url must be a URL"},
		{"hub with password", `{"hub_url":"https://a:b@hub"}`, "must have no user"},
		{"long name", `{"name":"` + strings.Repeat("n", 129) + `"}`, "more than 128"},
		{"name with zero byte", `{"name":"a\u0000b"}`, "control character"},
		{"visibility", `{"visibility":"friends"}`, `1:15: visibility must be "hub-local", "federated" or "public"`},
		{"price below zero", service(`"url":"unix:///a","price":-1`), "price: want a whole number of at least 0"},
		{"tcp", service(`"url":"http://127.0.0.1:1/"`), "Set allow_tcp"},
		{"no url", service(`"price":1`), "url is missing"},
		{"url with password", service(`"url":"http://me:s3cret@127.0.0.1:1/"`), "must have no user or password; use token_file"},
		{"abstract socket", service(`"url":"unix:///@x"`), "abstract socket"},
		{"relative socket", service(`"url":"unix://run/x"`), "three slashes"},
		{"long socket", service(`"url":"unix:///` + strings.Repeat("x", 107) + `"`), "108 bytes, the system allows 107"},
		{"relative token", service(`"url":"unix:///a","token_file":"t"`), "absolute path"},
		{"endless call", service(`"url":"unix:///a","timeout_ms":99999999999`), "timeout_ms must be"},
		{"empty service", `{"modules":{"service":{}}}`, "names no capability"},
	}
	for _, tt := range tests {
		c, err := Parse([]byte(tt.file))
		if err == nil {
			t.Errorf("%s: accepted as %+v", tt.name, c)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q does not say %q", tt.name, err, tt.want)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %q repeats the password", tt.name, err)
		}
	}
}

func service(members string) string {
	return `{"modules":{"service":{"capabilities":[{"id":"a",` + members + `}]}}}`
}

func TestAllUnknownKeysAreToldAtOnce(t *testing.T) {
	_, err := Parse([]byte("{\n\"nam\":1,\n\"inbound\":{\"polcy\":1},\n\"tag\":[]}"))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 {
		t.Errorf("problems = %q, want three", lines)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"inbound":{"public_capabilities":[{"id":"a","allow_only":true}]},"\u006eame":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err == nil && c.Inbound.Policy != Closed && c.Inbound.Policy != Open {
			t.Errorf("accepted policy %q", c.Inbound.Policy)
		}
		if err != nil && err.Error() == "" {
			t.Error("refused without a word")
		}
	})
}

func TestWarnings(t *testing.T) {
	const file = `{"inbound":{"public_capabilities":[{"id":"a"},{"id":"light.onoff"},{"id":"gone"}]},
		"modules":{"service":{"capabilities":[{"id":"a","url":"unix:///a"},{"id":"light","url":"unix:///l"},{"id":"sold","url":"unix:///s","price":1}]}}}`
	c, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(c.Warnings(), "\n")
	for _, want := range []string{"gone is public, and no module", "light is not public", "sold is not public"} {
		if !strings.Contains(got, want) {
			t.Errorf("warnings do not say %q:\n%s", want, got)
		}
	}
	if n := len(c.Warnings()); n != 3 {
		t.Errorf("%d warnings, want 3:\n%s", n, got)
	}
}
