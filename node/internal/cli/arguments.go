package cli

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// maxArgs is what an inner message holds at most; a provider takes less.
const maxArgs = 8 << 20

// arguments are those of a call, as they were typed.
type arguments struct{ text, file string }

func (a *arguments) flags(f *pflag.FlagSet) {
	f.StringVar(&a.text, "args", "", "arguments of the call, a JSON object")
	f.StringVar(&a.file, "args-file", "", "file with the arguments, - for stdin")
}

func (a *arguments) given(f *pflag.FlagSet) bool { return f.Changed("args") || f.Changed("args-file") }

// read gives them as they were typed, byte for byte; {} where there are none.
func (a *arguments) read(cmd *cobra.Command, p *Program) (raw json.RawMessage, err error) {
	if cmd.Flags().Changed("args") && cmd.Flags().Changed("args-file") {
		return nil, wrongUse("give the arguments once: --args or --args-file")
	}
	raw = json.RawMessage(a.text)
	switch {
	case a.file == "-":
		raw, err = cmdline.UnlessStopped(cmd.Context(), func() ([]byte, error) { return bounded(p.In, "stdin", maxArgs) })
	case a.file != "":
		raw, err = readSmall(cmd.Context(), a.file, maxArgs)
	case !a.given(cmd.Flags()):
		raw = json.RawMessage("{}")
	}
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := codec.UnmarshalJSON(raw, &object); err != nil || object == nil {
		return nil, errs.New(errs.Invalid, "args_not_object", `the arguments must be one JSON object such as '{"text":"hello"}'`).In("args")
	}
	return bytes.TrimSpace(raw), nil
}
