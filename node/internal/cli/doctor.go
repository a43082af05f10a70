package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/doctor"
)

func (p *Program) doctorCommand() *cobra.Command {
	c := command("doctor", "Check the config and everything around the node, without starting it", none,
		func(cmd *cobra.Command, _ []string) error {
			path, err := p.path()
			if err != nil {
				return err
			}
			results := doctor.Examine(cmd.Context(), path, p.Now)
			if err := p.show(struct {
				Healthy bool           `json:"healthy"`
				Checks  doctor.Results `json:"checks"`
			}{results.Healthy(), results}, func(w io.Writer) { printChecks(w, results) }); err != nil {
				return err
			}
			if !results.Healthy() {
				return exitWith(exitDifference)
			}
			return nil
		})
	c.Long = `Doctor checks the folder and its files, the keys, config.json, the lists of peers,
the programs behind the capabilities, the disk, the hub, the clock and the running
node. It changes nothing.`
	exiting(c, means(exitDifference, "it found something; the next step stands beside it"))
	return example(c, "anet doctor", "anet doctor --json")
}

func printChecks(w io.Writer, results doctor.Results) {
	for _, r := range results {
		mark := map[doctor.Status]string{doctor.OK: "ok", doctor.Finding: "FOUND", doctor.Skipped: "skipped"}[r.Status]
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, r.Check, text(r.Message))
		if r.Next != "" {
			fmt.Fprintf(w, "\t\t-> %s\n", line(r.Next))
		}
	}
}
