package vectors

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// Seeds adds every hex value of a file to a fuzz corpus.
func Seeds(f *testing.F, path string) {
	f.Helper()
	file, err := os.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	for d, name := jsontext.NewDecoder(file), ""; ; {
		t, err := d.ReadToken()
		if err != nil {
			return
		}
		s := ""
		if t.Kind() == '"' {
			s = t.String()
		}
		if b, err := hex.DecodeString(s); err == nil && strings.HasSuffix(name, "hex") {
			f.Add(b)
		}
		name = s
	}
}
