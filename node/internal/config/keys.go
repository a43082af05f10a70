package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// unbuilt are keys that other descriptions of this file know and this build
// does not act on yet. They are told apart from typing errors, and refuse the
// start all the same. '*' stands for any index or name.
var unbuilt = map[string]string{
	"/inbound/public_capabilities/*/allow_only": "allow_only is not built yet; take the entry out and put the callers on the allow list (anet peers allow AID), listed peers may call what is not public",
	"/inbound/public_capabilities/*/files":      "capabilities with files are not built yet",
	"/inbound/public_capabilities/*/discard":    "discard is not built yet: arguments and results would be kept",
	"/modules/service/capabilities/*/discard":   "discard is not built yet: arguments and results would be kept",
	"/modules/service/capabilities/*/files":     "capabilities with files are not built yet",
	"/modules/*":                                "this module is not in this build; service and x402 are",
	"/auto_reply":                               "automatic replies are not built yet",
	"/caps":                                     "the list of capabilities is made from what is served and public; words of your own go into tags",
	"/summary":                                  "the summary goes into profile.summary",
	"/readme":                                   "the readme goes into profile.readme",
	"/pricing":                                  "the pricing text goes into profile.pricing",
	"/accept_delegations":                       "who may send tasks is said by inbound.policy",
}

// notYet is the sentence for an unbuilt key, with the exact entry before the
// wildcard one.
func notYet(p jsontext.Pointer) (string, bool) {
	tokens := slices.Collect(p.Tokens())
	for i, token := range tokens {
		if isIndex(token) {
			tokens[i] = "*"
		}
	}
	if why, ok := unbuilt["/"+strings.Join(tokens, "/")]; ok {
		return why, true
	}
	if len(tokens) == 0 {
		return "", false
	}
	tokens[len(tokens)-1] = "*"
	why, ok := unbuilt["/"+strings.Join(tokens, "/")]
	return why, ok
}

// members are the JSON names of a struct, and of those within it that have none of
// their own, with the types behind them.
func members(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous {
			out[name] = f.Type
		}
	}
	return out
}

// nearest is the known name a misspelt one most likely meant, "" when none is
// close enough to be worth saying.
func nearest(misspelt string, known map[string]reflect.Type) string {
	best, bestAt := "", 1+len(misspelt)/3
	for name := range known {
		d := distance(fold(misspelt), fold(name))
		if d < bestAt || (d == bestAt && (best == "" || name < best)) {
			best, bestAt = name, d
		}
	}
	return best
}

// fold makes perCallerPerMin and per-caller-per-min the same as per_caller_per_min.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// distance counts the letters to insert, delete or change between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
