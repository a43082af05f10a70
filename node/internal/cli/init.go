package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/shared/errs"
)

// Initialised is what init prints.
type Initialised struct {
	AID     string `json:"aid"`
	DataDir string `json:"data_dir"`
	Created bool   `json:"created"` // false when the folder held a node before
}

func (p *Program) initCommand() *cobra.Command {
	var name string
	c := command("init [--name NAME]", "Make this node: its folder, its identity and its config.json", none,
		func(*cobra.Command, []string) error {
			made, err := p.initialise(name)
			if err != nil {
				return err
			}
			return p.show(made, func(w io.Writer) {
				if made.Created {
					fmt.Fprintf(w, "made\t%s\n", made.AID)
				} else {
					fmt.Fprintf(w, "there already\t%s\n", made.AID)
				}
				fmt.Fprintf(w, "in\t%s\nnext\tanet join URL\n", made.DataDir)
			})
		})
	c.Flags().StringVar(&name, "name", "", "how others see this node")
	return example(c, "anet init --name my-node")
}

// initialise makes what is missing of a node and leaves what is there alone.
func (p *Program) initialise(name string) (made Initialised, err error) {
	path, err := p.path()
	if err != nil {
		return made, err
	}
	dir, err := datadir.Open(path)
	if err != nil {
		return made, err
	}
	made.DataDir = dir.String()
	if made.AID, made.Created, err = p.identity(dir); err != nil {
		return made, err
	}
	return made, found(dir, name)
}

// identity is the folder's, or a new one. The claim keeps a second command that
// was typed at the same moment from making another.
func (p *Program) identity(dir datadir.Dir) (aid string, created bool, err error) {
	view, err := keyring.Look(dir)
	if err == nil || !errs.Is(err, "identity_missing") {
		return view.AID, false, err
	}
	claim, err := control.Take(dir)
	if err != nil {
		return "", false, err
	}
	defer claim.Release()
	keys, err := keyring.Init(dir, p.Now())
	if err != nil {
		return "", false, err
	}
	return keys.AID(), true, nil
}

// found writes a config.json that says the defaults where there is none, so
// that an operator finds something to edit.
func found(dir datadir.Dir, name string) error {
	exists, err := dir.Exists(config.FileName)
	if err != nil {
		return err
	}
	var edits []config.Edit
	if !exists {
		edits = append(edits, config.SetName(name), config.SetTags(nil), config.SetPolicy(config.Closed))
	} else if name != "" {
		edits = append(edits, config.SetName(name))
	}
	return config.Update(dir, edits...)
}
