package cli

import (
	"fmt"
	"os"
	"os/user"
)

// whoami is the account a command runs under, and how it came to. Behind sudo
// that is the person and not root.
func whoami(getenv func(string) string) (who, how string) {
	who, how = account(), "command line"
	if host, err := os.Hostname(); err == nil {
		how += " on " + host
	}
	if person := getenv("SUDO_USER"); person != "" && os.Geteuid() == 0 && person != who {
		return person, how + ", as " + who
	}
	return who, how
}

// account is a number where nobody gave it a name, as in a container.
func account() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprint("uid ", os.Getuid())
}
