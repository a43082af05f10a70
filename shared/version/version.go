// Package version says which build this is. The linker sets both variables
// (make build); a plain go build says "dev".
package version

// Version and Commit are set by the linker.
var (
	Version = "dev"
	Commit  = ""
)

// String is the version with its commit, where one is known.
func String() string {
	if Commit == "" {
		return Version
	}
	return Version + " (" + Commit + ")"
}
