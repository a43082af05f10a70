package identity

import (
	"testing"
	"time"
)

func TestCompare(t *testing.T) {
	first := newController(t, 1)
	long := rotate(t, first, epoch)
	fork := rotate(t, first, epoch.Add(time.Second))
	for _, tt := range []struct {
		name string
		a, b []byte
		want Relation
	}{
		{"same bytes", long.KEL(), long.KEL(), Equal},
		{"longer", long.KEL(), first.KEL(), Extends},
		{"rollback", first.KEL(), long.KEL(), Shorter},
		{"fork", long.KEL(), fork.KEL(), Forked},
		{"another agent", long.KEL(), newController(t, 2).KEL(), Forked},
		{"other signature, same events", resigned(t, first), first.KEL(), Equal},
	} {
		if got, err := Compare(tt.a, tt.b); got != tt.want || err != nil {
			t.Errorf("%s: Compare = %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	if _, err := Compare(first.KEL(), []byte{1}); err == nil {
		t.Error("Compare with garbage succeeds")
	}
}
