// Package capability is the grammar of capability ids: what a node may declare,
// what a hub keeps of what others declare, how an id leads to its provider, and
// what a ?cap= question asks for.
//
// Ids are compared byte by byte, everywhere. A reader that folds case or trims
// would list a capability that nobody can call.
package capability

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/errs"
)

// MaxLen is the longest id, in bytes.
const MaxLen = 256

// CheckID says why id is none a node of ours may declare, nil when it may:
// dot-separated segments, and after an optional '@' a qualifier that names a
// command or a device (adapter/device).
func CheckID(id string) error {
	if len(id) == 0 || len(id) > MaxLen {
		return invalidID("capability id %.40q must have 1 to %d bytes", id, MaxLen)
	}
	name, qualifier, qualified := strings.Cut(id, "@")
	for segment := range strings.SplitSeq(name, ".") {
		if segment == "" || !spelled(segment, "") {
			return invalidID("capability id %q must be segments of letters, digits, '_' or '-' between dots", id)
		}
	}
	if qualified && !validQualifier(qualifier) {
		return invalidID("capability id %q must name a command or adapter/device after its one '@'", id)
	}
	return nil
}

// ValidID reports whether a node of ours may declare id.
func ValidID(id string) bool { return CheckID(id) == nil }

func invalidID(format string, args ...any) error {
	return errs.New(errs.Invalid, "capability_id_invalid", format, args...)
}

func validQualifier(q string) bool {
	adapter, device, isDevice := strings.Cut(q, "/")
	return adapter != "" && (device != "" || !isDevice) && spelled(q, "./")
}

// spelled reports whether s keeps to ASCII letters, digits, '_', '-' and more.
func spelled(s, more string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		plain := r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		return !plain && !strings.ContainsRune("_-"+more, r)
	}) < 0
}

// Keepable reports whether a hub may store what a peer declared. It is wider
// than ValidID, for peers hold themselves to other alphabets; what it leaves out
// could not be asked for in ?cap=, or could not be printed.
func Keepable(id string) bool {
	return askable(id) && id != "" && !strings.ContainsAny(id, ",*") && strings.TrimSpace(id) == id
}

// askable reports whether s could be an id or the beginning of one.
func askable(s string) bool {
	return len(s) <= MaxLen && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// Keep parts a peer's declaration into the ids a hub stores, each once and in
// their order, and those it names back as ignored.
func Keep(declared []string) (kept, ignored []string) {
	seen := make(map[string]bool, len(declared))
	for _, id := range declared {
		switch {
		case seen[id]:
		case Keepable(id):
			kept = append(kept, id)
		default:
			ignored = append(ignored, id)
		}
		seen[id] = true
	}
	return kept, ignored
}

// Parents yields the ids a provider of id may be registered under instead, the
// nearest first: id cut before its last dot, and again. '@' is no boundary:
// shell.run@unknown falls back to shell. Nor is a letter: lightning never
// reaches light.
func Parents(id string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			dot := strings.LastIndexByte(id, '.')
			if dot <= 0 {
				return
			}
			if id = id[:dot]; !yield(id) {
				return
			}
		}
	}
}
