package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/node/internal/node"
)

func TestTheIdentityTravelsInAFile(t *testing.T) {
	p := newPerson(t)
	p.wants(exitDone, "init", "--name", "n")
	file := filepath.Join(t.TempDir(), "identity")
	out, says := p.wants(exitDone, "identity", "export", file)
	secret, err := os.ReadFile(file)
	must(t, err)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if key := strings.Split(string(secret), "\n")[3]; strings.Contains(out+says, key) {
		t.Errorf("the keys were printed: %s", out)
	}
	p.wants(exitError, "identity", "export", file) // never over another file
	p.wants(exitError, "identity", "export", "/dev/stdout")

	second := newPerson(t)
	second.wants(exitDone, "identity", "import", file)
	if a, b := shown(p), shown(second); a.AID != b.AID {
		t.Errorf("imported %s, want %s", b.AID, a.AID)
	}
	second.wants(exitError, "identity", "import", file) // never over another identity
	second.wants(exitDone, "identity", "rotate")
	if a, b := shown(p), shown(second); a.AID != b.AID || b.KeySeq != 1 {
		t.Errorf("rotated: %+v", b)
	}
}

// A file that this program keeps for itself and finds damaged is no wrong use.
func TestDamagedFilesAreErrors(t *testing.T) {
	for name, next := range map[string]string{"identity.key": "backup", "encryption.keys": "remove it", "hub.json": "anet join URL"} {
		p, h := newPerson(t), newHub(t, 1)
		p.wants(exitDone, "join", h.URL)
		must(t, os.WriteFile(filepath.Join(p.dir, name), []byte("{"), 0o600))
		if _, says := p.wants(exitError, "status"); !strings.Contains(says, name+" is damaged") || !strings.Contains(says, next) {
			t.Errorf("it says %s", says)
		}
	}
}

func shown(p *person) node.Identity {
	p.t.Helper()
	out, _ := p.wants(exitDone, "identity", "show", "--json")
	return decoded[node.Identity](p.t, out)
}

func TestInitIsDoneOnce(t *testing.T) {
	p := newPerson(t)
	out, _ := p.wants(exitDone, "init", "--json")
	first := decoded[Initialised](t, out)
	out, _ = p.wants(exitDone, "init", "--name", "later", "--json")
	second := decoded[Initialised](t, out)
	if !first.Created || second.Created || first.AID != second.AID {
		t.Errorf("first %+v, second %+v", first, second)
	}
	config, err := os.ReadFile(filepath.Join(p.dir, "config.json"))
	must(t, err)
	if !strings.Contains(string(config), "later") {
		t.Errorf("config.json: %s", config)
	}
}

func TestAProfileWithoutAHubIsWrittenDown(t *testing.T) {
	p := newPerson(t)
	p.wants(exitDone, "init")
	readme := filepath.Join(t.TempDir(), "readme")
	must(t, os.WriteFile(readme, []byte("# Hello\n"), 0o600))
	p.wants(exitDone, "profile", "set", "--summary", "Translates")
	p.wants(exitDone, "profile", "set", "--readme-file", readme)
	out, _ := p.wants(exitDone, "profile", "show", "--json")
	if got := decoded[node.Profile](t, out); got.Summary != "Translates" || got.Readme != "# Hello\n" {
		t.Errorf("profile %+v", got)
	}
}
