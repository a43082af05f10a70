package embedpg

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/anet-hub/anet/shared/errs"
)

// oldest is the first major version the hub's schema works with.
const oldest = 15

// programs is one installation of the PostgreSQL server.
type programs struct {
	dir   string
	major int
}

func (p programs) path(name string) string { return filepath.Join(p.dir, name) }

// installations are the places where distributions keep versions side by side,
// outside PATH.
var installations = []string{
	"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
	"/usr/pgsql-*/bin",                  // the project's own RPMs
	"/usr/lib/postgresql*/bin",          // openSUSE
	"/usr/libexec/postgresql*",          // Alpine
	"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
	"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
	"/usr/local/pgsql/bin",              // built from source
}

// findPrograms looks for a server of the given major version; want is zero
// when there is no cluster yet, and the newest is taken. A folder named by the
// operator is the only one looked into.
func findPrograms(binDir string, want int) (programs, error) {
	folders := []string{binDir}
	if binDir == "" {
		folders = searchFolders()
	}
	found := installed(folders)
	for _, p := range found {
		if p.major == want || want == 0 && p.major >= oldest {
			return p, nil
		}
	}
	return programs{}, missing(binDir, want, found)
}

// searchFolders lists PATH first, then what the distributions hide from it.
func searchFolders() []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range installations {
		matches, _ := filepath.Glob(pattern)
		folders = append(folders, matches...)
	}
	return folders
}

// installed reads the versions of what is there, newest first; of two equal
// versions the earlier folder.
func installed(folders []string) []programs {
	var found []programs
	for _, dir := range folders {
		if p, ok := inspect(dir); ok {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b programs) int { return cmp.Compare(b.major, a.major) })
	return found
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspect accepts a folder only when the server and initdb stand side by side:
// a client package alone can initialise nothing.
func inspect(dir string) (programs, bool) {
	if dir == "" {
		return programs{}, false
	}
	p := programs{dir: dir}
	if _, err := exec.LookPath(p.path("initdb")); err != nil {
		return programs{}, false
	}
	out, err := exec.Command(p.path("postgres"), "--version").Output()
	if err != nil {
		return programs{}, false
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return programs{}, false
	}
	p.major, err = strconv.Atoi(string(m[1]))
	return p, err == nil
}

// missing says what was wanted, what there is, and what to install.
func missing(binDir string, want int, found []programs) error {
	wanted := fmt.Sprintf("%d or newer", oldest)
	if want != 0 {
		wanted = fmt.Sprintf("%d, which made the data folder", want)
	}
	where := "on this machine"
	if binDir != "" {
		where = "in " + binDir
	}
	var have string
	for _, p := range found {
		have += fmt.Sprintf(" (version %d is in %s)", p.major, p.dir)
	}
	return errs.New(errs.Unavailable, "postgres_programs_missing",
		"the programs of PostgreSQL %s are not %s%s: %s, or name a database with --database-url-file",
		wanted, where, have, advice(want))
}

// advice names the package of this system.
func advice(want int) string {
	if runtime.GOOS == "darwin" {
		return "brew install postgresql@" + strconv.Itoa(max(want, 17))
	}
	release, _ := os.ReadFile("/etc/os-release")
	return packageAdvice(string(release), want)
}

func packageAdvice(osRelease string, want int) string {
	is := func(id string) bool {
		return regexp.MustCompile(`(?m)^ID(_LIKE)?=.*\b` + id + `\b`).MatchString(osRelease)
	}
	version := ""
	if want != 0 {
		version = strconv.Itoa(want)
	}
	switch {
	case is("debian"), is("ubuntu"):
		return "apt-get install " + strings.TrimSuffix("postgresql-"+version, "-")
	case is("fedora"), is("rhel"), is("centos"):
		return "dnf install postgresql" + version + "-server postgresql" + version + "-contrib"
	case is("alpine"):
		return "apk add postgresql" + version + " postgresql" + version + "-contrib"
	case is("arch"):
		return "pacman -S postgresql"
	case is("suse"):
		return "zypper install postgresql" + version + "-server postgresql" + version + "-contrib"
	}
	return "install the package that holds PostgreSQL's server"
}

// Installed is nil when this machine has the programs that Start needs, else
// an errs.Unavailable "postgres_programs_missing" that says how to get them.
func Installed() error {
	_, err := findPrograms("", 0)
	return err
}
