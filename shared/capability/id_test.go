package capability

import (
	"slices"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
)

func TestValidID(t *testing.T) {
	for _, c := range []struct {
		why  string
		id   string
		want bool
	}{
		{"segments between dots", "text.translate", true},
		{"one segment", "echo", true},
		{"every kind of sign", "A-1._b.C2", true},
		{"a named command", "shell.run@restart-app", true},
		{"a device", "ptz.absolute@onvif/camera-006", true},
		{"a device with dots and slashes of its own", "light.onoff@mqtt/zigbee/10.0.0.1", true},
		{"the longest", strings.Repeat("a", MaxLen), true},
		{"one byte too long", strings.Repeat("a", MaxLen+1), false},
		{"nothing", "", false},
		{"an empty segment", "text..translate", false},
		{"a dot in front", ".text", false},
		{"a dot at the end", "text.", false},
		{"a slash before the @", "text/translate", false},
		{"no name", "@onvif/cam", false},
		{"no qualifier", "ptz@", false},
		{"no adapter", "ptz@/cam", false},
		{"no device", "ptz@onvif/", false},
		{"two @", "ptz@a@b/c", false},
		{"a blank", "text translate", false},
		{"a comma", "a,b", false},
		{"a star", "text.*", false},
		{"a letter beyond ASCII", "text.übersetzen", false},
		{"bad UTF-8", "text.\xff", false},
		{"a zero byte", "a\x00", false},
	} {
		if got := ValidID(c.id); got != c.want {
			t.Errorf("%s: ValidID(%q) = %v, want %v", c.why, c.id, got, c.want)
		}
	}
}

func TestCheckIDIsInvalidWithAReason(t *testing.T) {
	err := CheckID("text.*")
	if errs.KindOf(err) != errs.Invalid || !errs.Is(err, "capability_id_invalid") {
		t.Fatalf("CheckID = %v, want an invalid capability_id_invalid", err)
	}
}

func TestKeepable(t *testing.T) {
	for _, c := range []struct {
		why  string
		id   string
		want bool
	}{
		{"whatever a node of ours declares", "ptz.absolute@onvif/camera-006", true},
		{"another alphabet", "翻译.文本", true},
		{"blanks inside", "text to speech", true},
		{"wildcards of SQL", "a_c%", true},
		{"empty segments", "a..b", true},
		{"two @", "a@b@c/d", true},
		{"256 bytes", strings.Repeat("é", 128), true},
		{"257 bytes", strings.Repeat("é", 128) + "a", false},
		{"nothing", "", false},
		{"a comma", "a,b", false},
		{"a star", "a*", false},
		{"a blank in front", " a", false},
		{"a blank at the end", "a ", false},
		{"a no-break space at the end", "a\u00a0", false},
		{"a tab", "a\tb", false},
		{"a zero byte", "a\x00b", false},
		{"a control character of the second block", "a\u0085b", false},
		{"bad UTF-8", "a\xff", false},
		{"a lone surrogate", "a\xed\xa0\x80", false},
	} {
		if got := Keepable(c.id); got != c.want {
			t.Errorf("%s: Keepable(%q) = %v, want %v", c.why, c.id, got, c.want)
		}
	}
}

func TestKeepNamesWhatItDrops(t *testing.T) {
	kept, ignored := Keep([]string{"b", "a", "x*", "b", "", "x*"})
	if !slices.Equal(kept, []string{"b", "a"}) || !slices.Equal(ignored, []string{"x*", ""}) {
		t.Errorf("Keep = %q and %q ignored", kept, ignored)
	}
}

func TestParents(t *testing.T) {
	for id, want := range map[string][]string{
		"text.translate.fast":           {"text.translate", "text"},
		"shell.run@unknown":             {"shell"},
		"ptz.absolute@onvif/10.0":       {"ptz.absolute@onvif/10", "ptz"},
		"lightning":                     nil,
		"":                              nil,
		".hidden":                       nil,
		"ptz.absolute@onvif/camera-006": {"ptz"},
	} {
		if got := slices.Collect(Parents(id)); !slices.Equal(got, want) {
			t.Errorf("Parents(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestParentsStopsWhenTold(t *testing.T) {
	for id := range Parents("a.b.c.d") {
		if id != "a.b.c" {
			t.Fatalf("first parent = %q, want a.b.c", id)
		}
		break
	}
}
