package wire

import (
	"encoding/json"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestStatusTableReadsBothWays(t *testing.T) {
	seen := map[int]bool{}
	for _, s := range statuses {
		if seen[s.status] {
			t.Errorf("status %d stands in the table twice", s.status)
		}
		seen[s.status] = true
		if got := KindOf(StatusOf(s.kind)); got != s.kind {
			t.Errorf("KindOf(StatusOf(%v)) = %v", s.kind, got)
		}
	}
}

func TestForeignStatuses(t *testing.T) {
	tests := []struct {
		name   string
		status int
		want   errs.Kind
	}{
		{"a client error we never send", 418, errs.Invalid},
		{"a server error we never send", 599, errs.Internal},
	}
	for _, tt := range tests {
		if got := KindOf(tt.status); got != tt.want {
			t.Errorf("%s: KindOf(%d) = %v, want %v", tt.name, tt.status, got, tt.want)
		}
	}
}

func TestRegisterTellsAbsentCardFromNull(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"absent", `{}`, ""},
		{"null withdraws", `{"a2a_card":null}`, "null"},
		{"object", `{"a2a_card":{"name":"x"}}`, `{"name":"x"}`},
	}
	for _, tt := range tests {
		var r Register
		if err := json.Unmarshal([]byte(tt.body), &r); err != nil {
			t.Fatal(err)
		}
		if string(r.A2ACard) != tt.want {
			t.Errorf("%s: A2ACard = %q, want %q", tt.name, r.A2ACard, tt.want)
		}
	}
}
