package card

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What a stranger's card may cost in memory, thrown away while it is read: a
// bound in bytes for the worst shapes that fit into one.
func TestVerifyCostIsBounded(t *testing.T) {
	const bound = 16 << 20
	c := suite(t)
	v := knowing(c.KEL())
	good := string(signedCard(t, c))
	with := func(member string) string { return "{" + member + "," + good[1:] }
	fill := func(element string) string {
		return strings.Repeat(element+",", (MaxBytes-len(good)-512)/(len(element)+1)) + element
	}
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprintf(`"%d":{}`, i))
	}
	deep := strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100)
	for _, tt := range []struct{ why, raw string }{
		{"many empty arrays", with(`"x":[` + fill("[]") + `]`)},
		{"many empty objects", with(`"x":[` + fill("{}") + `]`)},
		{"many names", with(`"x":{` + strings.Join(names, ",") + `}`)},
		{"many numbers", with(`"x":[` + fill("1") + `]`)},
		{"deep nests side by side", with(`"x":[` + fill(deep) + `]`)},
		{"many requirements", with(`"securityRequirements":[` + fill("{}") + `]`)},
		{"one long text", with(`"x":"` + strings.Repeat("x", MaxBytes-len(good)-64) + `"`)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := v.Verify(context.Background(), []byte(tt.raw))
		runtime.ReadMemStats(&after)
		if CodeOf(err) != InvalidSignature && err != nil {
			t.Errorf("%s: %v, want to come as far as the signature", tt.why, err)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > bound {
			t.Errorf("%s: %d bytes allocated for a card of %d, want at most %d", tt.why, spent, len(tt.raw), bound)
		}
	}
}
