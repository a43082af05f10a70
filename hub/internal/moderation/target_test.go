package moderation

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

const alice = "bafyreigtala4crn2jjs7fzyuaxsknhnstc7joihe6n6gw6tg42ujzc2qbe"

func TestEverySpellingIsOneTarget(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"aid", alice, alice},
		{"aid", " " + alice + "\n", alice},
		{"aid", strings.ToUpper(alice), alice},
		{"aid", alice + "======", alice},
		{"aid", alice[:58] + "f", alice}, // other bits behind the last byte
		{"host", "203.0.113.7", "203.0.113.7/32"},
		{"host", "203.0.113.7/24", "203.0.113.0/24"},
		{"host", "::ffff:203.0.113.7", "203.0.113.7/32"},
		{"host", "::ffff:203.0.113.0/120", "203.0.113.0/24"},
		{"host", "[::ffff:cb00:7107]", "203.0.113.7/32"},
		{"host", "2001:db8::1", "2001:db8::/64"},
		{"host", "2001:DB8:0:0:1::1/128", "2001:db8::/64"},
		{"host", "2001:db8::/32", "2001:db8::/32"},
		{"host", "fe80::1%eth0", "fe80::/64"},
	} {
		got, err := ParseTarget(c.kind, c.text)
		if err != nil || got.String() != c.want || got.Kind() != c.kind {
			t.Errorf("%s %q = %v, %v, want %s", c.kind, c.text, got, err, c.want)
		}
	}
}

func TestWhatIsNoTarget(t *testing.T) {
	for _, c := range []struct{ kind, text, reason string }{
		{"aid", "", "aid_malformed"},
		{"aid", "alice", "aid_malformed"},
		{"aid", alice[1:], "aid_malformed"},
		{"aid", alice + "a", "aid_malformed"},
		{"aid", "203.0.113.7", "aid_malformed"},
		{"host", alice, "host_malformed"},
		{"host", "example.org", "host_malformed"},
		{"host", "203.0.113.7, 203.0.113.8", "host_malformed"},
		{"host", "0x7f.1", "host_malformed"},
		{"host", "203.0.113.7/33", "host_malformed"},
		{"host", "::ffff:0:0/90", "host_malformed"},
		{"host", "0.0.0.0/0", "host_everybody"},
		{"host", "::/0", "host_everybody"},
		{"host", "::ffff:0:0/96", "host_everybody"},
		{"name", "alice", "kind_unknown"},
	} {
		if got, err := ParseTarget(c.kind, c.text); !errs.Is(err, c.reason) {
			t.Errorf("%s %q = %v, %v, want %s", c.kind, c.text, got, err, c.reason)
		}
	}
}
