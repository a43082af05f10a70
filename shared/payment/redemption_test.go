package payment

import (
	"strings"
	"testing"
)

func TestRedeems(t *testing.T) {
	for _, tt := range []struct {
		why, interaction, reference string
		want                        bool
	}{
		{"as it was signed", RedemptionOf("inv-1"), "inv-1", true},
		{"another reference", RedemptionOf("inv-1"), "inv-2", false},
		{"none", RedemptionOf("inv-1"), "", false},
		{"signed without one", RedemptionOf(""), "inv-1", true},
		{"signed for something else", "a task", "inv-1", true},
	} {
		if got := Redeems(tt.interaction, tt.reference); got != tt.want {
			t.Errorf("%s: Redeems(%q, %q) = %v, want %v", tt.why, tt.interaction, tt.reference, got, tt.want)
		}
	}
}

func TestValidReference(t *testing.T) {
	for _, tt := range []struct {
		reference string
		want      bool
	}{
		{"", true}, {"invoice 7", true}, {"Rechnung Nº 7", true}, {strings.Repeat("x", MaxReference), true},
		{strings.Repeat("x", MaxReference+1), false}, {"two\nlines", false}, {"\x00", false}, {"\xff", false},
	} {
		if got := ValidReference(tt.reference); got != tt.want {
			t.Errorf("ValidReference(%.20q) = %v, want %v", tt.reference, got, tt.want)
		}
	}
}
