package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/shared/version"
	"github.com/anet-hub/anet/shared/wire"
)

func (p *Program) versionCommand() *cobra.Command {
	c := command("version", "Print the version", none, func(*cobra.Command, []string) error {
		return p.show(struct {
			Version string `json:"version"`
			Commit  string `json:"commit"`
			Wire    int    `json:"wire"`
			Go      string `json:"go"`
		}{version.Version, version.Commit, wire.Version, runtime.Version()}, func(w io.Writer) {
			fmt.Fprintf(w, "anet %s, hub wire %d\n", version.String(), wire.Version)
		})
	})
	return example(c, "anet version", "anet version --json")
}
