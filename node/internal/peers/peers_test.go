package peers

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
)

var (
	ann  = "b" + strings.Repeat("a", 58)
	ben  = "b" + strings.Repeat("b", 58)
	cleo = "b" + strings.Repeat("c", 58)
)

func lists(t *testing.T, files map[List]string) (Lists, datadir.Dir) {
	t.Helper()
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	for list, content := range files {
		if err := os.WriteFile(dir.Path(list.file()), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return In(dir), dir
}

func TestStanding(t *testing.T) {
	tests := []struct {
		name  string
		files map[List]string
		want  Standing
		told  bool
	}{
		{"no files", nil, Standing{}, false},
		{"allowed", map[List]string{Allow: ann + "\n"}, Standing{Allowed: true}, false},
		{"trusted", map[List]string{Trust: ann}, Standing{Trusted: true}, false},
		{"denied wins over listed", map[List]string{Allow: ann, Deny: ann}, Standing{Denied: true, Allowed: true}, false},
		{"comments and blanks", map[List]string{Allow: "# " + ben + "\n\n  " + ann + "  # a friend\r\n"}, Standing{Allowed: true}, false},
		{"a comment is nobody", map[List]string{Allow: "#" + ann}, Standing{}, false},
		{"a prefix is nobody", map[List]string{Allow: ann[:20]}, Standing{}, true},
		{"one bad line closes the allow list", map[List]string{Allow: ann + "\nben\n"}, Standing{}, true},
		{"one bad line denies everybody", map[List]string{Deny: "ben\n", Allow: ann}, Standing{Denied: true, Allowed: true}, true},
	}
	for _, tt := range tests {
		l, _ := lists(t, tt.files)
		got, err := l.Of(ann)
		if got != tt.want || (err != nil) != tt.told {
			t.Errorf("%s: Of = %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestWhatCannotBeReadCloses(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"a folder":                  func(path string) error { return os.Mkdir(path, 0o700) }, // readable to nobody, not even root
		"a link that leads nowhere": func(path string) error { return os.Symlink("/nowhere/at/all", path) },
	} {
		l, dir := lists(t, map[List]string{Allow: ann})
		if err := spoil(dir.Path("peers.deny")); err != nil {
			t.Fatal(err)
		}
		got, err := l.Of(ann)
		if !got.Denied || got.Listed() || err == nil {
			t.Errorf("%s for a deny list: %+v, %v", name, got, err)
		}
	}
}

func TestChangesHoldFromTheNextLookOn(t *testing.T) {
	l, dir := lists(t, map[List]string{Allow: "# friends\n" + ben, Deny: ann + " # spam\n"})
	if err := l.Put(ann, Allow); err != nil {
		t.Fatal(err)
	}
	if got, _ := l.Of(ann); !got.Listed() {
		t.Errorf("after allow: %+v", got)
	}
	if data, _ := dir.Read("peers.allow"); string(data) != "# friends\n"+ben+"\n"+ann+"\n" {
		t.Errorf("peers.allow = %q", data)
	}
	if err := l.Put(ann, Allow); err != nil {
		t.Fatal(err)
	}
	if aids, _ := l.Members(Allow); !slices.Equal(aids, []string{ben, ann}) {
		t.Errorf("allowed twice: %v", aids)
	}
	if held, err := l.Remove(ann); err != nil || !slices.Equal(held, []List{Allow}) {
		t.Errorf("Remove = %v, %v", held, err)
	}
	if held, err := l.Remove(cleo); err != nil || len(held) != 0 {
		t.Errorf("Remove of a stranger = %v, %v", held, err)
	}
	if info, _ := os.Stat(dir.Path("peers.allow")); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
}

func TestDenyTakesAPeerOffTheOtherLists(t *testing.T) {
	l, _ := lists(t, map[List]string{Allow: ann, Trust: ann})
	if err := l.Put(ann, Deny); err != nil {
		t.Fatal(err)
	}
	if got, _ := l.Of(ann); got != (Standing{Denied: true}) {
		t.Errorf("after deny: %+v", got)
	}
}

func TestOnlyFullAIDsAreTaken(t *testing.T) {
	l, _ := lists(t, nil)
	for _, name := range []string{"", "ann", ann[:58], ann + "\n" + ben, strings.ToUpper(ann), ann + "#"} {
		if err := l.Put(name, Deny); !errs.Is(err, "aid_not_full") {
			t.Errorf("Put(%q) = %v", name, err)
		}
		if _, err := l.Remove(name); !errs.Is(err, "aid_not_full") {
			t.Errorf("Remove(%q) = %v", name, err)
		}
	}
}
