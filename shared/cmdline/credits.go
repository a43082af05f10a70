package cmdline

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// Credits adds a flag of whole credits. It reads them as money is written everywhere:
// the library's own numbers take 010 for eight and 0x10 for sixteen.
func Credits(f *pflag.FlagSet, p *uint64, name string, value uint64, usage string) {
	*p = value
	f.Var((*credits)(p), name, usage)
}

type credits uint64

func (c *credits) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return errors.New("must be a whole number of credits")
	}
	*c = credits(n)
	return nil
}

func (c *credits) String() string { return strconv.FormatUint(uint64(*c), 10) }

func (c *credits) Type() string { return "uint" }
