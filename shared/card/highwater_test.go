package card

import "testing"

// Checklist 36.
func TestDecide(t *testing.T) {
	one, other := [32]byte{1}, [32]byte{2}
	for _, tt := range []struct {
		why    string
		record *Mark
		card   Mark
		want   Step
		code   Code
	}{
		{"none on record", nil, Mark{5, one}, Advance, ""},
		{"sequence 0 is one", nil, Mark{0, one}, Advance, ""},
		{"greater", &Mark{5, one}, Mark{6, other}, Advance, ""},
		{"greater, the same content", &Mark{5, one}, Mark{6, one}, Advance, ""},
		{"equal and the same", &Mark{5, one}, Mark{5, one}, Same, ""},
		{"equal and another", &Mark{5, one}, Mark{5, other}, 0, SeqFork},
		{"lower", &Mark{5, one}, Mark{4, one}, 0, SeqRollback},
	} {
		got, err := Decide(tt.record, tt.card)
		if got != tt.want || CodeOf(err) != tt.code {
			t.Errorf("%s: Decide = %v, %v, want %v %q", tt.why, got, err, tt.want, tt.code)
		}
	}
}

// Checklist 36: the same statement under another spelling is no fork.
func TestMarkIsThatOfTheStatement(t *testing.T) {
	c := suite(t)
	card := parsed(t, signedCard(t, c))
	first := mustRead(t, printed(t, card)).Mark()
	card["securityRequirements"] = []any{}
	if step, err := Decide(&first, mustRead(t, printed(t, card)).Mark()); step != Same || err != nil {
		t.Errorf("Decide = %v, %v, want Same", step, err)
	}
	card["version"] = "2"
	if _, err := Decide(&first, mustRead(t, printed(t, card)).Mark()); CodeOf(err) != SeqFork {
		t.Errorf("Decide = %v, want %s", err, SeqFork)
	}
}
