package app

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anet-hub/anet/api/apitest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// answering are the packages whose failures reach a client.
var answering = []string{
	"../internal/admission", "../internal/budget", "../internal/cursor", "../internal/directory", "../internal/httpapi", "../internal/ledger",
	"../internal/moderation", "../internal/postgres", "../internal/relay", "../internal/replay", "../internal/reviews",
	"../../shared/capability", "../../shared/evidence",
}

// betweenHubs are those whose failures reach other hubs, under labels. What they
// ask others in turn may fail there as well.
var betweenHubs = []string{"../internal/forward", "../internal/feed"}

// elsewhere are codes of these packages that no request is answered with.
var elsewhere = map[string]string{
	"503 database_too_old":      "at the start",
	"503 database_encoding":     "at the start",
	"400 database_url":          "at the start",
	"503 database_pooled":       "at the start",
	"404 hub_identity_missing":  "at the start",
	"409 hub_identity_changed":  "to an operator who rotates the key",
	"404 not_cleared_with":      "to an operator who clears",
	"503 schema_pending":        "to an operator, and at the start",
	"503 migration_running":     "to an operator, and at the start",
	"409 hub_is_running":        "to an operator who restores",
	"403 createdb_denied":       "to an operator who checks a backup",
	"400 capability_id_invalid": "to nodes",
	"404 acme_unknown":          "to autocert",
	"400 https_required":        "at port 80, which has no API",
	"404 challenge_unknown":     "at port 80, which has no API",

	"429 forward_rate": "to peers, as a label",
	"429 stream_rate":  "to peers, as a label",

	"400 resource_incomplete": "at addresses that are no route",
	"503 debt_at_limit":       "as a settlement that is pending, with 200",
	"429 settle_abroad_rate":  "as a settlement that is pending, with 200",
	"429 settle_peer_rate":    "as a settlement that is pending, with 200",

	"409 lease_lost": "to a process that reads a peer",

	"404 no_hub_here":         "to operators",
	"409 supply_exhausted":    "to operators",
	"400 limit_invalid":       "to operators",
	"400 reference_invalid":   "to operators",
	"409 discharge_under_way": "to operators",
	"400 more_than_due":       "to operators",
	"409 more_than_owed":      "to operators",
	"404 invite_unknown":      "to operators",
	"409 invite_revoked":      "to operators",
	"409 blocked_already":     "to operators",
	"404 not_blocked":         "to operators",
	"409 hidden_already":      "to operators",
	"409 not_hidden":          "to operators",
	"404 not_registered":      "to operators",
	"400 kind_unknown":        "to operators",
	"400 host_malformed":      "to operators",
	"400 host_everybody":      "to operators",
	"400 uses_invalid":        "to operators",
	"400 expires_invalid":     "to operators",
	"400 label_invalid":       "to operators",
}

// spelled are the codes behind what is no literal.
var spelled = map[string][]string{
	`field + "_empty"`: {"skill_empty", "tag_empty"},
	"reason": append([]string{"capability_query_empty", "capability_query_term", "capability_query_too_long",
		"capability_query_wildcard"}, // of capability.refuse
		"rating_out_of_range", "receipt_wrong_signer", "review_other_interaction", "review_other_receipt",
		"review_wrong_signer", "reviewer_not_requester", "subject_not_provider", "attestation_bad_signature",
		"attestation_empty_chain", "attestation_other_chain", "attestation_own_chain"), // of evidence.refuse
	"no.Reason": {"duplicate_binding", "expired_payment", "insufficient_funds", "invalid_amount", "invalid_payment_requirements",
		"invalid_signature", "network_mismatch", "payee_mismatch", "unknown_payer", "unsupported_scheme"}, // of ledger.Refusal
	"invite": {wire.InviteRequired, wire.InviteUnknown, wire.InviteRevoked, wire.InviteExpired,
		wire.InviteUsedUp}, // of admission.refusal
	"wire.MoreThanOwed": {wire.MoreThanOwed},
	"l.reason":          nil, // of admission: those given to NewLimiter
}

// What the hub can say and what the document says it can are the same codes,
// under the same statuses.
func TestCodesAreThoseOfTheDocument(t *testing.T) {
	said, documented := codesOfSource(t), codesOfDocument(t)
	labels, possible := labelsOf(t, betweenHubs), labelsOf(t, answering)
	for answer, where := range labels {
		if possible[answer] = where; !documented[answer] {
			t.Errorf("%s: the label %q is in no operation of api/openapi.yaml", where, answer)
		}
	}
	for answer, where := range said {
		if !documented[answer] && elsewhere[answer] == "" {
			t.Errorf("%s: %q is in no operation of api/openapi.yaml. Add the code to the enum of every answer that can carry it, and its meaning to the schema Code; or, where no request is answered so, to elsewhere in codes_test.go", where, answer)
		}
	}
	for answer := range documented {
		if said[answer] == "" && possible[answer] == "" {
			t.Errorf("api/openapi.yaml documents %q, which nothing in the hub says", answer)
		}
	}
}

// Every code has its meaning, and none is left that nothing answers.
func TestCodesAreExplained(t *testing.T) {
	used := map[string][]string{}
	for answer := range codesOfDocument(t) {
		_, code, _ := strings.Cut(answer, " ")
		schema := "Code"
		if strings.ToUpper(code) == code {
			schema = "Label"
		}
		used[schema] = append(used[schema], code)
	}
	for schema, codes := range used {
		explained := explainedIn(t, schema)
		if !slices.IsSorted(explained) {
			t.Errorf("the schema %s is not in the order of the alphabet", schema)
		}
		slices.Sort(codes)
		if codes = slices.Compact(codes); !slices.Equal(codes, explained) {
			t.Errorf("the answers have the codes %v, the schema %s explains %v", codes, schema, explained)
		}
	}
}

func explainedIn(t *testing.T, schema string) (codes []string) {
	t.Helper()
	n := apitest.Load(t).Root()
	for _, name := range []string{"components", "schemas", schema, "oneOf"} {
		n, _ = n.Child(name)
	}
	for _, v := range n.Value.([]any) {
		codes = append(codes, v.(map[string]any)["const"].(string))
	}
	return codes
}

// codesOfDocument are "404 agent_unknown" and the like, of operations and of
// the answers that belong to none.
func codesOfDocument(t *testing.T) map[string]bool {
	all := map[string]bool{
		"404 no_such_route":      true,
		"405 method_not_allowed": true,
	}
	for _, o := range apitest.Load(t).Operations() {
		for _, status := range o.Statuses() {
			codes, _ := o.Codes(status)
			for _, code := range codes {
				all[fmt.Sprint(status, " ", code)] = true
			}
		}
	}
	return all
}

// codesOfSource are the same as they stand in the code, and where.
func codesOfSource(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, code := range limiters(t) {
		all[fmt.Sprint(wire.StatusOf(errs.TooMany), " ", code)] = "hub/app"
	}
	failures(t, answering, func(where string, kind errs.Kind, code string) {
		all[fmt.Sprint(wire.StatusOf(kind), " ", code)] = where
	})
	return all
}

// labelsOf are the same failures as another hub gets them.
func labelsOf(t *testing.T, dirs []string) map[string]string {
	all := map[string]string{}
	failures(t, dirs, func(where string, kind errs.Kind, code string) {
		status, label := wire.FedAnswer(errs.New(kind, code, "x"))
		all[fmt.Sprint(status, " ", label)] = where
	})
	return all
}

// failures finds those that packages make.
func failures(t *testing.T, dirs []string, see func(where string, kind errs.Kind, code string)) {
	t.Helper()
	for _, dir := range dirs {
		for where, call := range callsIn(t, dir, "errs.New") {
			kind := kindNamed(t, types.ExprString(call.Args[0]))
			for _, code := range spell(t, where, call.Args[1]) {
				see(where, kind, code)
			}
		}
	}
}

// limiters are the codes of the rates this program counts.
func limiters(t *testing.T) (codes []string) {
	t.Helper()
	for where, call := range callsIn(t, ".", "admission.NewLimiter") {
		codes = append(codes, spell(t, where, call.Args[2])...)
	}
	return codes
}

// callsIn are those of a function in a package, by where they stand.
func callsIn(t *testing.T, dir, function string) map[string]*ast.CallExpr {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	found := map[string]*ast.CallExpr{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			calls(t, file, function, found)
		}
	}
	return found
}

func calls(t *testing.T, file, function string, found map[string]*ast.CallExpr) {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && types.ExprString(call.Fun) == function {
			found[fset.Position(call.Pos()).String()] = call
		}
		return true
	})
}

// spell reads a code that stands there, or looks up one that is put together.
func spell(t *testing.T, where string, e ast.Expr) []string {
	t.Helper()
	if lit, ok := e.(*ast.BasicLit); ok {
		code, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		return []string{code}
	}
	codes, ok := spelled[types.ExprString(e)]
	if !ok {
		t.Errorf("%s: which codes can %s be? Say so in spelled of codes_test.go", where, types.ExprString(e))
	}
	return codes
}

// kindNamed finds a kind by its name in the code.
func kindNamed(t *testing.T, name string) errs.Kind {
	t.Helper()
	for kind := errs.Internal; kind <= errs.Full; kind++ {
		if "errs."+strings.ReplaceAll(kind.String(), "_", "") == strings.ToLower(name) {
			return kind
		}
	}
	t.Fatalf("%s is no kind", name)
	return 0
}
