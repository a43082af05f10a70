package task

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/codec"
)

// Checklist 30: the content id and the size of an attachment are recomputed.
func TestAttachmentCheck(t *testing.T) {
	good, err := NewAttachment("a.txt", "text/plain", []byte("abc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		edit func(*Attachment)
		ok   bool
	}{
		{"as made", func(*Attachment) {}, true},
		{"empty", func(a *Attachment) { *a = Attachment{CID: codec.RawCID(nil)} }, true},
		{"another size", func(a *Attachment) { a.Size++ }, false},
		{"a negative size", func(a *Attachment) { a.Size = -3 }, false},
		{"other data of that size", func(a *Attachment) { a.Data = []byte("abd") }, false},
		{"data cut", func(a *Attachment) { a.Data = a.Data[:2]; a.Size = 2 }, false},
		{"the id of a document", func(a *Attachment) { a.CID = codec.CID(a.Data) }, false},
		{"no id", func(a *Attachment) { a.CID = "" }, false},
	} {
		a := good
		tt.edit(&a)
		if err := a.Check(); (err == nil) != tt.ok {
			t.Errorf("%s: Check = %v, want accepted %v", tt.name, err, tt.ok)
		}
	}
	if _, err := NewAttachment("big", "", make([]byte, MaxAttachment+1)); err == nil {
		t.Error("an attachment above the cap is made")
	}
}

func TestFileName(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "report.pdf", "report.pdf"},
		{"words", "Übersicht 2024 (neu).txt", "Übersicht 2024 (neu).txt"},
		{"climbing", "../../etc/passwd", "passwd"},
		{"absolute", "/etc/shadow", "shadow"},
		{"of another system", `..\..\boot.ini`, "boot.ini"},
		{"a drive", `C:evil.exe`, "C_evil.exe"},
		{"a stream", "a.txt:hidden", "a.txt_hidden"},
		{"a folder", "a/", "file"},
		{"here", ".", "file"},
		{"above", "..", "file"},
		{"nothing", "", "file"},
		{"hidden", ".bashrc", "bashrc"},
		{"an option", "-rf", "rf"},
		{"a home", "~root", "root"},
		{"a zero byte", "a\x00b", "a_b"},
		{"an escape sequence", "a\x1b[31mb", "a_[31mb"},
		{"lines", "a\nb\r", "a_b_"},
		{"text that turns around", "exe.\u202etxt", "exe._txt"},
		{"no UTF-8", "a\xffb", "a_b"},
		{"trailing dots and blanks", "a.. .", "a"},
		{"a device", "NUL.txt", "_NUL.txt"},
		{"a port", "com1", "_com1"},
		{"no port", "combo", "combo"},
		{"long, with an extension", strings.Repeat("x", 300) + ".pdf", strings.Repeat("x", 196) + ".pdf"},
		{"long, cut between characters", strings.Repeat("é", 150), strings.Repeat("é", 100)},
		{"a long extension", "a." + strings.Repeat("x", 300), "a." + strings.Repeat("x", 198)},
	} {
		if got := FileName(tt.in); got != tt.want {
			t.Errorf("%s: FileName(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

// Checklist 30: files land in a fresh directory and nowhere else.
func TestSaveFiles(t *testing.T) {
	parent := t.TempDir()
	outside := filepath.Join(t.TempDir(), "target")
	names := []string{"../../target", outside, "a.txt", "a.txt", "A.txt", "a (2).txt", "", "..", "x/../../y"}
	var list []Attachment
	for _, n := range names {
		a, err := NewAttachment(n, "", []byte("of "+n))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	dir, files, err := SaveFiles(parent, list)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil || string(b) != "of "+names[i] {
			t.Errorf("%q is kept as %q with %q, %v", names[i], f, b, err)
		}
		if info, err := os.Lstat(filepath.Join(dir, f)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%q has mode %v, %v, want 0600", f, info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(names) {
		t.Errorf("the directory holds %d files, %v, want %d", len(entries), err, len(names))
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file was written outside")
	}
	if other, _, err := SaveFiles(parent, list); err != nil || other == dir {
		t.Errorf("a second message is put into %s, %v, want another directory than %s", other, err, dir)
	}
}

func TestSaveFilesFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := saver{root, map[string]int{}}
	name, err := s.save(Attachment{Name: "a", Data: []byte("evil")})
	if b, _ := os.ReadFile(victim); string(b) != "kept" {
		t.Errorf("the file behind a link holds %q", b)
	}
	if err != nil || name != "a (2)" {
		t.Errorf("the attachment is kept as %q, %v, want beside the link", name, err)
	}
}

func TestSaveFilesLeavesNothingBehind(t *testing.T) {
	parent := t.TempDir()
	if _, _, err := SaveFiles(parent, []Attachment{{Name: "a", Size: 1}}); err == nil {
		t.Error("an attachment that is not what it says is saved")
	}
	if entries, _ := os.ReadDir(parent); len(entries) != 0 {
		t.Errorf("%d entries are left", len(entries))
	}
}
