package card

import (
	"encoding/json"
	"testing"
)

// Checklist 34: which members a payload keeps, message by message.
func TestStrip(t *testing.T) {
	for _, tt := range []struct {
		why      string
		of       message
		in, want string
	}{
		{"required members stay, whatever they hold", agentCard,
			`{"name":"","skills":[],"version":null}`, `{"name":"","skills":[],"version":null}`},
		{"explicit ones stay unless null", agentCard,
			`{"iconUrl":"","documentationUrl":null}`, `{"iconUrl":""}`},
		{"implicit ones go with their default", agentCard,
			`{"securitySchemes":{},"securityRequirements":[]}`, `{}`},
		{"or with null", agentCard,
			`{"securitySchemes":null,"securityRequirements":null}`, `{}`},
		{"unknown members stay", agentCard,
			`{"x":null,"y":"","z":[{"tenant":""}]}`, `{"x":null,"y":"","z":[{"tenant":""}]}`},
		{"the default of another type stays", agentExtension,
			`{"uri":[],"required":"","description":false}`, `{"uri":[],"required":"","description":false}`},
		{"explicit booleans stay when false", agentCapabilities,
			`{"streaming":false,"extendedAgentCard":null}`, `{"streaming":false}`},
		{"nested messages are treated alike", agentCard,
			`{"supportedInterfaces":[{"url":"","tenant":""},5]}`, `{"supportedInterfaces":[{"url":""},5]}`},
		{"a message left empty stays in its list", agentCard,
			`{"securityRequirements":[{"schemes":{}}]}`, `{"securityRequirements":[{}]}`},
		{"a list where a message belongs is left alone", agentCard,
			`{"provider":[{"url":""}],"capabilities":[{"extensions":[]}]}`,
			`{"provider":[{"url":""}],"capabilities":[{"extensions":[]}]}`},
		{"an object where a list belongs is left alone", agentCard,
			`{"supportedInterfaces":{"tenant":""}}`, `{"supportedInterfaces":{"tenant":""}}`},
		{"nothing is dropped inside params", agentExtension,
			`{"params":{"a":"","b":[],"c":null,"uri":""},"uri":""}`, `{"params":{"a":"","b":[],"c":null,"uri":""}}`},
		{"empty params stay", agentExtension, `{"params":{}}`, `{"params":{}}`},
		{"maps of messages", agentCard,
			`{"securitySchemes":{"a":{"mtlsSecurityScheme":{"description":""}},"b":{"apiKeySecurityScheme":null}}}`,
			`{"securitySchemes":{"a":{"mtlsSecurityScheme":{}},"b":{}}}`},
		{"maps of lists", securityRequirement,
			`{"schemes":{"a":{"list":[]},"b":{"list":[""]}}}`, `{"schemes":{"a":{},"b":{"list":[""]}}}`},
		{"maps of texts keep empty ones", oauthFlows,
			`{"implicit":{"scopes":{"a":""},"refreshUrl":""},"password":{"scopes":{}}}`,
			`{"implicit":{"scopes":{"a":""}},"password":{}}`},
		{"required maps stay", oauthFlows,
			`{"deviceCode":{"scopes":{},"refreshUrl":""}}`, `{"deviceCode":{"scopes":{}}}`},
		{"deep in a scheme", securityScheme,
			`{"oauth2SecurityScheme":{"description":"","flows":{"authorizationCode":{"pkceRequired":false,"tokenUrl":""}}}}`,
			`{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"tokenUrl":""}}}}`},
	} {
		var in map[string]any
		if err := json.Unmarshal([]byte(tt.in), &in); err != nil {
			t.Fatal(err)
		}
		before := string(printed(t, in))
		got, err := canonical(tt.of.strip(in))
		want, _ := canonical(json.RawMessage(tt.want))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %s becomes %s, %v, want %s", tt.why, tt.in, got, err, want)
		}
		if after := string(printed(t, in)); after != before {
			t.Errorf("%s: stripping changed its input to %s", tt.why, after)
		}
	}
}

// The table names every member once, and messages exactly where they belong.
func TestSchemaIsConsistent(t *testing.T) {
	seen := map[*field]bool{}
	var walk func(path string, m message)
	walk = func(path string, m message) {
		names := map[string]bool{}
		for i := range m {
			f := &m[i]
			if nested := f.shape == single || f.shape == list || f.shape == mapped; nested != (f.of != nil) {
				t.Errorf("%s%s: nested message %v, shape %d", path, f.name, f.of != nil, f.shape)
			}
			if names[f.name] {
				t.Errorf("%s%s stands twice", path, f.name)
			}
			names[f.name] = true
			if !seen[f] {
				seen[f] = true
				walk(path+f.name+".", f.of)
			}
		}
	}
	walk("", agentCard)
}
