package peers

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestParseEndpoint(t *testing.T) {
	tests := []struct{ typed, want string }{
		{"https://hub.example.org", "https://hub.example.org"},
		{" https://Hub.Example.org/ ", "https://hub.example.org"},
		{"https://hub.example.org:443//", "https://hub.example.org"},
		{"http://hub.example.org:80", "http://hub.example.org"},
		{"http://hub.example.org:443", "http://hub.example.org:443"},
		{"https://hub.example.org:8443/anet/", "https://hub.example.org:8443/anet"},
		{"https://[2001:DB8::0:1]", "https://[2001:db8::1]"},
		{"https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"},
		{"https://hub.example.org./", "https://hub.example.org"},
		{"https://10.0.0.5", "https://10.0.0.5"},
		{"https://hub.0xample", "https://hub.0xample"},
		{"http://0x7f.1/", ""},
		{"http://2130706433/", ""},
		{"http://127.1/", ""},
		{"http://0177.0.0.01./", ""},
		{"http://1.2.3.4.5", ""},
		{"http://256.1.1.1", ""},
		{"file:///etc/passwd", ""},
		{"gopher://hub.example.org", ""},
		{"hub.example.org", ""},
		{"https://", ""},
		{"https:hub.example.org", ""},
		{"https://me:secret@hub.example.org", ""},
		{"https://hub.example.org?x=1", ""},
		{"https://hub.example.org?", ""},
		{"https://hub.example.org#x", ""},
		{"https://[fe80::1%25eth0]", ""},
		{"https://hüb.example.org", ""},
		{"https://hub.example.org:port", ""},
		{"https://" + strings.Repeat("a", maxEndpoint), ""},
	}
	for _, tt := range tests {
		got, err := ParseEndpoint(tt.typed)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("ParseEndpoint(%q) = %q, %v, want %q", tt.typed, got, err, tt.want)
		}
		if err != nil && errs.KindOf(err) != errs.Invalid {
			t.Errorf("ParseEndpoint(%q) fails as %s", tt.typed, errs.KindOf(err))
		}
	}
}

func TestNameFor(t *testing.T) {
	tests := []struct{ endpoint, want string }{
		{"https://hub.example.org", "hub-example-org"},
		{"http://127.0.0.1:8088/x", "127-0-0-1-8088"},
		{"https://[2001:db8::1]", "2001-db8--1"},
		{"https://" + strings.Repeat("a", 31) + ".org", strings.Repeat("a", 31)},
	}
	for _, tt := range tests {
		if got := NameFor(tt.endpoint); got != tt.want || !validName.MatchString(got) {
			t.Errorf("NameFor(%q) = %q, want %q", tt.endpoint, got, tt.want)
		}
	}
}
