package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/anet-hub/anet/shared/errs"
)

// invite is where the invite stands.
type invite struct{ file, onCommandLine string }

const (
	inviteVariable = "ANET_INVITE"
	inviteRule     = "put an invite into a file (--token-file FILE) or into " + inviteVariable
)

func (i *invite) flags(fs *pflag.FlagSet) {
	fs.StringVar(&i.file, "token-file", "", "file with the invite, where the hub asks for one (or set "+inviteVariable+")")
	for _, name := range []string{"token", "invite"} {
		fs.StringVar(&i.onCommandLine, name, "", "")
		fs.MarkHidden(name)
	}
}

// maxInvite bounds a file that was surely another one.
const maxInvite = 4 << 10

// read gives the invite, "" when there is none.
func (i invite) read(ctx context.Context, getenv func(string) string) (string, error) {
	if i.onCommandLine != "" {
		return "", errs.New(errs.Invalid, "invite_on_command_line",
			"every user of this machine can read a command line; %s", inviteRule)
	}
	if i.file == "" {
		return tidy(getenv(inviteVariable))
	}
	b, err := readSmall(ctx, i.file, maxInvite)
	if err != nil {
		return "", fmt.Errorf("read the invite: %w", err)
	}
	return tidy(string(b))
}

// tidy takes the line break off an invite and refuses what is none.
func tidy(invite string) (string, error) {
	invite = strings.TrimSpace(invite)
	if strings.ContainsFunc(invite, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", errs.New(errs.Invalid, "invite_invalid", "the invite must be one word; this is another file or variable")
	}
	return invite, nil
}
