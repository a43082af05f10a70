package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName leaves room for a number under the 255 bytes of most systems.
const maxFileName = 200

// SaveFiles checks the attachments and writes them into a fresh directory
// below parent, which it names together with the files in it, in the order of
// the list. The names are the sender's: each becomes one plain element, and a
// file is only ever created, inside that directory, never reached through a
// link. When something fails nothing is left behind.
func SaveFiles(parent string, list []Attachment) (dir string, files []string, err error) {
	if err := CheckAll(list); err != nil {
		return "", nil, err
	}
	root, dir, err := freshDir(parent)
	if err != nil {
		return "", nil, fmt.Errorf("save attachments: %w", err)
	}
	defer root.Close()
	s := saver{root, make(map[string]int, len(list))}
	for _, a := range list {
		name, err := s.save(a)
		if err != nil {
			return "", nil, fmt.Errorf("save attachment: %w", abandon(dir, err))
		}
		files = append(files, name)
	}
	return dir, files, nil
}

type saver struct {
	root *os.Root
	used map[string]int // numbers tried for a name
}

// save numbers a name that is taken. Whether two names are one file is the
// file system's affair: it may ignore case or compose characters.
func (s saver) save(a Attachment) (string, error) {
	name := FileName(a.Name)
	for {
		s.used[name]++
		file := numbered(name, s.used[name])
		if err := create(s.root, file, a.Data); !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
}

// freshDir makes a directory that did not exist and opens it as a root nothing
// below can lead out of. MkdirTemp creates or fails: a link planted under the
// name cannot be entered.
func freshDir(parent string) (*os.Root, string, error) {
	dir, err := os.MkdirTemp(parent, "files-")
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", abandon(dir, err)
	}
	return root, dir, nil
}

func create(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func abandon(dir string, cause error) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("%w; and removing %s: %w", cause, dir, err)
	}
	return cause
}

// FileName turns a name chosen by a stranger into one path element that is
// harmless to a shell, a terminal and a file manager: no separators of any
// system, nothing unprintable or reordering text, no leading dot, dash or
// blank, no device name of Windows.
func FileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(printable, strings.ToValidUTF8(name, "_"))
	name = strings.TrimLeft(name, ".- ~")
	name = strings.TrimRight(shorten(name), ". ")
	if name == "" {
		return "file"
	}
	if device(name) {
		return "_" + name
	}
	return name
}

func printable(r rune) rune {
	if !unicode.IsPrint(r) || strings.ContainsRune(`:*?"<>|$`+"`", r) {
		return '_'
	}
	return r
}

// shorten cuts the stem and keeps the extension.
func shorten(name string) string {
	if len(name) <= maxFileName {
		return name
	}
	ext := filepath.Ext(name)
	if len(ext) > 16 {
		ext = ""
	}
	cut := maxFileName - len(ext)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + ext
}

func device(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem = strings.TrimSpace(stem); {
	case stem == "con", stem == "prn", stem == "aux", stem == "nul":
		return true
	case len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt"):
		return stem[3] >= '0' && stem[3] <= '9'
	}
	return false
}
