package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/anet-hub/anet/shared/errs"
)

// The last line names the format, the length of the manifest before it, and the
// manifest's hash. Its own length is always the same.
const (
	lastLine    = "anet-hub backup 1 %010d %s\n"
	lastLineLen = len("anet-hub backup 1 ") + 10 + 1 + 2*sha256.Size + 1
	maxManifest = 1 << 20
	archiveHead = "PGDMP" // how every archive of pg_dump begins
)

// Writer passes an archive on and puts the manifest behind it.
type Writer struct {
	to    io.Writer
	sum   hash.Hash
	bytes int64
}

// NewWriter writes to the end of to.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to, sum: sha256.New()} }

// Write passes on a part of the archive.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.sum.Write(p[:n])
	w.bytes += int64(n)
	return n, err
}

// Bytes is how much was written so far.
func (w *Writer) Bytes() int64 { return w.bytes }

// Finish completes the manifest and writes it.
func (w *Writer) Finish(m Manifest) (Manifest, error) {
	m.Bytes, m.SHA256 = w.bytes, hex.EncodeToString(w.sum.Sum(nil))
	text, err := json.Marshal(m)
	if err != nil {
		return m, err
	}
	_, err = fmt.Fprintf(w.to, "\n%s\n"+lastLine, text, len(text), hexSum(text))
	return m, err
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Read gives the manifest of a file. What is no backup, or not all of one, is an
// errs.Invalid "backup_unreadable".
func Read(f *os.File) (m Manifest, err error) {
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	text, err := readManifest(f, info.Size())
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, unreadable("the manifest at its end cannot be read")
	}
	if info.Size() != m.Bytes+int64(len("\n\n")+len(text)+lastLineLen) {
		return m, unreadable("it is not as long as its manifest says")
	}
	return m, nil
}

func readManifest(f io.ReaderAt, size int64) ([]byte, error) {
	end := size - int64(lastLineLen)
	line := make([]byte, lastLineLen)
	if end < 0 || !fill(f, line, end) {
		return nil, noBackup(f)
	}
	fields := strings.Fields(string(line))
	if len(fields) != 5 || strings.Join(fields[:3], " ") != "anet-hub backup 1" {
		return nil, noBackup(f)
	}
	n, err := strconv.Atoi(fields[3])
	if err != nil || n < 0 || n > maxManifest || int64(n)+1 > end {
		return nil, unreadable("its last line cannot be read")
	}
	text := make([]byte, n)
	if !fill(f, text, end-int64(n)-1) || hexSum(text) != fields[4] {
		return nil, unreadable("the manifest at its end is damaged")
	}
	return text, nil
}

func fill(f io.ReaderAt, b []byte, at int64) bool {
	n, err := f.ReadAt(b, at)
	return n == len(b) && (err == nil || errors.Is(err, io.EOF))
}

// noBackup tells a backup that was cut off from what never was one.
func noBackup(f io.ReaderAt) error {
	head := make([]byte, len(archiveHead))
	if fill(f, head, 0) && bytes.Equal(head, []byte(archiveHead)) {
		return unreadable("its end is missing: it was cut off, or pg_dump wrote it by itself")
	}
	return unreadable("it is no backup of a hub")
}

func unreadable(why string) error {
	return errs.New(errs.Invalid, "backup_unreadable", "this file cannot be restored: %s", why)
}

// Verify reads the archive through and compares its hash. seen is told what was read.
func Verify(f *os.File, m Manifest, seen io.Writer) error {
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(sum, seen), io.NewSectionReader(f, 0, m.Bytes)); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		return unreadable("its content is damaged")
	}
	return nil
}
