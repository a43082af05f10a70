package certs

import (
	"strings"
	"testing"
)

// What the authority says is found wherever it stands, with a next step.
func TestComplaints(t *testing.T) {
	const e = acmeError
	tests := []struct {
		name, body string
		want       complaint
		advice     string
	}{
		{"nothing wrong", `{"status":"valid","challenges":[{"type":"http-01","status":"valid"}]}`, complaint{}, ""},
		{"no JSON object", `[]`, complaint{}, ""},
		{"a refusal", `{"type":"` + e + `rateLimited","detail":"too many certificates"}`, complaint{"rateLimited", "too many certificates"}, "staging"},
		{"a nonce that is asked for again", `{"type":"` + e + `badNonce","detail":"x"}`, complaint{}, ""},
		{"a challenge that failed", `{"status":"invalid","challenges":[{"type":"dns-01"},{"type":"http-01","error":{"type":"` + e + `connection","detail":"timeout"}}]}`,
			complaint{"connection", "timeout"}, "ports 80 and 443"},
		{"an order that failed", `{"status":"invalid","error":{"type":"` + e + `caa","detail":"CAA forbids"}}`, complaint{"caa", "CAA forbids"}, "CAA record"},
		{"a kind nobody knows", `{"type":"` + e + `new","detail":"x"}`, complaint{"new", "x"}, "anet-hub doctor --domain hub.example.org"},
	}
	for _, tt := range tests {
		got := complaintIn([]byte(tt.body))
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if !strings.Contains(got.advice("hub.example.org"), tt.advice) {
			t.Errorf("%s: %s", tt.name, got.advice("hub.example.org"))
		}
	}
}

func TestAdvicesNameTheDomain(t *testing.T) {
	for kind := range advices {
		if says := (complaint{kind: kind}).advice("hub.example.org"); strings.Count(says, "hub.example.org") != 1 || strings.Contains(says, "%!") {
			t.Errorf("%s: %s", kind, says)
		}
	}
}

func TestTokensAreOfTheirAlphabet(t *testing.T) {
	for token, want := range map[string]bool{
		"DGyRejmCefe7v4NfDGDKfA": true, "a-b_c": true, "": false, "a/b": false, "a.b": false, "a\x00": false, "ä": false,
		"@": false, "[": false, "`": false, "{": false, strings.Repeat("a", maxToken+1): false,
	} {
		if isToken(token) != want {
			t.Errorf("isToken(%.20q) = %v", token, !want)
		}
	}
}
