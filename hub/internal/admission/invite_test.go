package admission

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

func aToken(t *testing.T) Token {
	t.Helper()
	token, err := newToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestDoor(t *testing.T) {
	now := time.UnixMilli(1_767_225_600_000)
	hour := time.Hour
	token, none := aToken(t), Token{}
	shown := func(change func(*Shown)) *Shown {
		s := &Shown{Invite: Invite{MaxUses: 2, Uses: 1, ExpiresAt: now.Add(hour)}}
		change(s)
		return s
	}
	tests := []struct {
		why   string
		open  bool
		token Token
		found *Shown
		want  string
	}{
		{"an open hub asks for none", true, none, nil, ""},
		{"an open hub looks at none", true, token, shown(func(s *Shown) { s.RevokedAt = now }), ""},
		{"no token", false, none, nil, "invite_required"},
		{"a token of nobody", false, token, nil, "invite_unknown"},
		{"in force", false, token, shown(func(*Shown) {}), ""},
		{"any number of uses", false, token, shown(func(s *Shown) { s.MaxUses, s.Uses = 0, 1_000_000 }), ""},
		{"no end", false, token, shown(func(s *Shown) { s.ExpiresAt = time.Time{} }), ""},
		{"the last use is gone", false, token, shown(func(s *Shown) { s.Uses = 2 }), "invite_used_up"},
		{"who used it comes back", false, token, shown(func(s *Shown) { s.Uses, s.Used = 2, true }), ""},
		{"a moment before its end", false, token, shown(func(s *Shown) { s.ExpiresAt = now.Add(1) }), ""},
		{"at its end", false, token, shown(func(s *Shown) { s.ExpiresAt = now }), "invite_expired"},
		{"expired for who used it, too", false, token, shown(func(s *Shown) { s.ExpiresAt, s.Used = now, true }), "invite_expired"},
		{"revoked", false, token, shown(func(s *Shown) { s.RevokedAt = now.Add(-hour) }), "invite_revoked"},
		{"revoked comes before expired and used up", false, token, shown(func(s *Shown) { s.RevokedAt, s.ExpiresAt, s.Uses = now, now, 2 }), "invite_revoked"},
		{"expired comes before used up", false, token, shown(func(s *Shown) { s.ExpiresAt, s.Uses = now, 2 }), "invite_expired"},
	}
	for _, tt := range tests {
		err := Door{InviteOnly: !tt.open}.Admit(tt.token, tt.found, now)
		if tt.want == "" && err == nil || tt.want != "" && errs.Is(err, tt.want) && errs.KindOf(err) == errs.Forbidden {
			continue
		}
		t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
	}
}

// The form is that of wire 2, I.3.
func TestTokens(t *testing.T) {
	token := aToken(t)
	if text := token.Reveal(); !strings.HasPrefix(text, "anetinv_") || len(text) != 40 || strings.ToLower(text) != text {
		t.Errorf("a token of another form, %d characters", len(text))
	}
	if len(token.Hash()) != 64 || token.Hash() != ReadToken(" "+token.Reveal()+"\n").Hash() || token.Hash() == aToken(t).Hash() {
		t.Error("the hash doesn't tell tokens apart")
	}
	tests := []struct {
		why, text string
		want      bool
	}{
		{"whole", token.Reveal(), true},
		{"with the end of its line", token.Reveal() + "\r\n", true},
		{"cut", token.Reveal()[:39], false},
		{"with more behind it", token.Reveal() + "a", false},
		{"without its prefix", token.Reveal()[8:], false},
		{"in capitals", strings.ToUpper(token.Reveal()), false},
		{"a digit that is none of base32", token.Reveal()[:39] + "1", false},
		{"a zero byte", token.Reveal()[:39] + "\x00", false},
		{"nothing", "", false},
		{"prose", "please let me in", false},
	}
	for _, tt := range tests {
		if got := ReadToken(tt.text).WellFormed(); got != tt.want {
			t.Errorf("%s: well formed = %v, want %v", tt.why, got, tt.want)
		}
	}
	if (Door{InviteOnly: true}).Asks(ReadToken("prose")) || (Door{}).Asks(token) {
		t.Error("something is looked up for nothing")
	}
}

// Whatever prints a token by accident prints none of it.
func TestTokensDoNotPrintThemselves(t *testing.T) {
	token := aToken(t)
	holder := struct{ Invite Token }{token}
	asJSON, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "token", token, "holder", holder)
	for how, text := range map[string]string{
		"%v": fmt.Sprintf("%v %v", token, holder), "%+v": fmt.Sprintf("%+v", holder), "%#v": fmt.Sprintf("%#v", holder),
		"Sprint": fmt.Sprint(token), "%q": fmt.Sprintf("%q", holder), "JSON": string(asJSON), "a log": log.String(),
	} {
		if strings.Contains(text, token.Reveal()[8:]) {
			t.Errorf("%s prints it: %s", how, text)
		}
	}
}

func TestOrdersThatCannotBe(t *testing.T) {
	for why, o := range map[string]Order{
		"a negative number of uses":     {Uses: -1},
		"more uses than are counted":    {Uses: 1 << 31},
		"an end before the beginning":   {For: -time.Second},
		"an end nobody lives to see":    {For: maxFor + 1},
		"a long label":                  {Label: strings.Repeat("x", maxLabel+1)},
		"a label of two lines":          {Label: "a\nb"},
		"a label that moves the cursor": {Label: "a\x1b[2J"},
		"a label with a token":          {Label: "for bob: anetinv_abc"},
	} {
		if err := o.check(); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s: %v", why, err)
		}
	}
	if err := (Order{Uses: 5, For: time.Hour, Label: "Zürich 🚪"}).check(); err != nil {
		t.Errorf("a good one: %v", err)
	}
}
