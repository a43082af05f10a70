package cli

import (
	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/doctor"
	"github.com/anet-hub/anet/shared/checkup"
)

func (p *Program) doctorCommand() *cobra.Command {
	c := command("doctor", "Check the config and everything around the node, without starting it", none,
		func(cmd *cobra.Command, _ []string) error {
			path, err := p.path()
			if err != nil {
				return err
			}
			results := doctor.Examine(cmd.Context(), path, p.Now)
			healthy := results.Findings() == 0
			if err := p.show(struct {
				Healthy bool            `json:"healthy"`
				Checks  checkup.Results `json:"checks"`
			}{healthy, results}, results.Write); err != nil {
				return err
			}
			if !healthy {
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
