// Package e2e tells stories across hub and node, one a file, and holds the
// packages to their layers.
package e2e

import (
	"encoding/json"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/anet-hub/anet/"

// layers say what packages must not import, themselves or in what they import
// of ours. The patterns are of path.Match; a trailing /... takes in all below.
var layers = []struct {
	who string
	not []string
	why string
}{
	{"hub/...", []string{"node/..."}, "hub and node meet on the wire only"},
	{"node/...", []string{"hub/...", "migrations"}, "hub and node meet on the wire only"},
	{"shared/...", []string{"hub/...", "node/...", "migrations", "e2e/..."}, "shared stands below both"},
	{"migrations", []string{"hub/...", "node/..."}, "the schema stands below the hub"},
	{"api", []string{"hub/...", "node/...", "shared/..."}, "the contract stands by itself"},
}

// technology is what rules must not know. Only direct imports count: what a
// package below them uses is its own affair.
var technology = []string{
	"net/http", "database/sql", "github.com/jackc/pgx/...", "modernc.org/sqlite/...",
	"github.com/go-chi/...", "github.com/spf13/...", module + "hub/internal/postgres", module + "hub/internal/httpapi",
	module + "node/internal/hubclient", module + "node/internal/control", module + "node/internal/cli",
}

// rules are the packages in the middle.
var rules = []string{
	"hub/internal/admission", "hub/internal/audit", "hub/internal/cursor", "hub/internal/directory", "hub/internal/feed", "hub/internal/forward", "hub/internal/hubkey",
	"hub/internal/learned", "hub/internal/ledger", "hub/internal/liveness", "hub/internal/moderation",
	"hub/internal/peers", "hub/internal/relay", "hub/internal/replay", "hub/internal/reviews", "hub/internal/wake",
	"node/internal/dispatch", "node/internal/inbound", "node/internal/mailbox", "node/internal/outbox",
	"node/internal/peers", "node/internal/provider", "node/internal/till", "node/internal/wallet",
	"shared/capability", "shared/codec", "shared/effect", "shared/enckeys", "shared/envelope", "shared/errs",
	"shared/evidence", "shared/identity", "shared/payment", "shared/plain", "shared/task",
}

// pgxUsers are the only homes of SQL for PostgreSQL.
var pgxUsers = []string{"hub/internal/postgres", "hub/internal/pgtools", "hub/pgtest/...", "migrations", "e2e/...", "hub/app"}

func TestLayers(t *testing.T) {
	packages := list(t)
	for _, l := range layers {
		for _, p := range packages {
			if !match(l.who, p.short()) {
				continue
			}
			for _, dep := range p.Deps {
				if short, ours := strings.CutPrefix(dep, module); ours && matchAny(l.not, short) {
					t.Errorf("%s imports %s: %s", p.short(), short, l.why)
				}
			}
		}
	}
}

func TestLayersRulesKnowNoTechnology(t *testing.T) {
	for _, p := range list(t) {
		if !slices.Contains(rules, p.short()) {
			continue
		}
		for _, dep := range p.Imports {
			if matchAny(technology, dep) {
				t.Errorf("%s imports %s: rules stand in the middle, technology at the edge", p.short(), dep)
			}
		}
	}
}

func TestLayersSQLHasOneHome(t *testing.T) {
	for _, p := range list(t) {
		if matchAny(pgxUsers, p.short()) {
			continue
		}
		for _, dep := range p.Imports {
			if match("github.com/jackc/pgx/...", dep) {
				t.Errorf("%s imports %s: statements stand in hub/internal/postgres", p.short(), dep)
			}
		}
	}
}

// TestLayersTestsStayOut keeps what only tests use out of what people run.
func TestLayersTestsStayOut(t *testing.T) {
	only := []string{"testing", module + "hub/pgtest/...", module + "shared/testkit/...", module + "api/apitest",
		"github.com/testcontainers/...", "github.com/santhosh-tekuri/...", "github.com/chromedp/..."}
	for _, p := range list(t) {
		if p.Name != "main" || !match("hub/cmd/...", p.short()) && !match("node/cmd/...", p.short()) {
			continue
		}
		for _, dep := range p.Deps {
			if matchAny(only, dep) {
				t.Errorf("%s contains %s, which is for tests", p.short(), dep)
			}
		}
	}
}

type pkg struct {
	ImportPath string
	Name       string
	Imports    []string
	Deps       []string
}

func (p pkg) short() string { return strings.TrimPrefix(p.ImportPath, module) }

// list asks the go command for every package of the module.
func list(t *testing.T) (found []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Imports,Deps", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		switch err := d.Decode(&p); err {
		case nil:
			found = append(found, p)
		case io.EOF:
			return found
		default:
			t.Fatalf("go list: %v", err)
		}
	}
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) })
}

func match(pattern, name string) bool {
	if root, all := strings.CutSuffix(pattern, "/..."); all {
		return name == root || strings.HasPrefix(name, root+"/")
	}
	ok, _ := path.Match(pattern, name)
	return ok
}
