package backup

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/testkit"
)

var made = Manifest{Hub: "bafy", TakenAt: testkit.Now.UTC(), Schema: 50, Program: "dev", Postgres: 15, Rows: map[string]int64{"agent": 2}}

// write makes a backup of an archive.
func write(t *testing.T, path, archive string) Manifest {
	t.Helper()
	f, err := Create(path, false)
	must(t, err)
	defer f.Discard()
	w := NewWriter(f)
	_, err = io.WriteString(w, archive)
	must(t, err)
	m, err := w.Finish(made)
	must(t, err)
	must(t, f.Keep())
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) (Manifest, error) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return m, err
	}
	return m, Verify(f, m, io.Discard)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hub")
	wrote := write(t, path, "PGDMP and more")
	m, err := read(t, path)
	if err != nil || m.SHA256 != wrote.SHA256 || m.Bytes != 14 || m.Rows["agent"] != 2 || !m.TakenAt.Equal(made.TakenAt) {
		t.Errorf("read %+v, %v", m, err)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %o", info.Mode().Perm())
	}
}

// Whatever is missing or changed, it is no backup any more.
func TestEveryByteCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hub")
	write(t, path, "PGDMP and more")
	whole, err := os.ReadFile(path)
	must(t, err)
	damaged := filepath.Join(t.TempDir(), "damaged")
	refused := func(what string, content []byte) {
		t.Helper()
		must(t, os.WriteFile(damaged, content, 0o600))
		if _, err := read(t, damaged); !errs.Is(err, "backup_unreadable") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := range whole {
		refused("cut off", whole[:n])
		flipped := bytes.Clone(whole)
		flipped[n] ^= 1
		if at := len("PGDMP and more"); n == at || n == bytes.IndexByte(whole[at+1:], '\n')+at+1 || n == len(whole)-1 || n == len(whole)-lastLineLen+len("anet-hub backup 1") || n == len(whole)-2*32-2 {
			continue // a separator, which says nothing
		}
		refused("flipped", flipped)
	}
	refused("longer", append(bytes.Clone(whole), 'x'))
	refused("a text", []byte("hello"))
	refused("another thing's", bytes.Repeat([]byte("hello world\n"), 100))
}

func TestAFileAppearsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hub")
	f, err := Create(path, false)
	must(t, err)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("it is there before it is whole: %v", err)
	}
	write(t, path, "PGDMP the other's") // which comes first
	if err := f.Keep(); !errs.Is(err, "file_exists") {
		t.Errorf("the second ends with %v", err)
	}
	if _, err := Create(path, false); !errs.Is(err, "file_exists") {
		t.Errorf("over one that is there: %v", err)
	}
	f, err = Create(path, true)
	must(t, err)
	must(t, f.Keep())
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("what is left: %v", left)
	}
	if _, err := Create(dir, true); !errs.Is(err, "file_is_folder") {
		t.Errorf("a folder: %v", err)
	}
}

// What a kill left goes with the next backup; what is being written stays.
func TestLeftoversAreSweptAndOthersStay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hub")
	killed, err := Create(path, false)
	must(t, err)
	must(t, killed.Close()) // as the kernel does
	other, err := Create(path, false)
	must(t, err)
	write(t, path, "PGDMP")
	if _, err := os.Stat(killed.Name()); !os.IsNotExist(err) {
		t.Errorf("the killed one's: %v", err)
	}
	if _, err := os.Stat(other.Name()); err != nil {
		t.Errorf("the other's: %v", err)
	}
	other.Discard()
}

func TestFits(t *testing.T) {
	tests := []struct {
		why      string
		schema   int64
		postgres int
		want     string
	}{
		{"the same", 50, 15, ""},
		{"a newer program", 51, 15, ""},
		{"an older program", 49, 15, "schema_newer"},
		{"a newer server", 50, 17, ""},
		{"an older server", 50, 14, "postgres_older"},
	}
	for _, tt := range tests {
		if got := testkit.Reason(made.Fits(tt.schema, tt.postgres)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}
