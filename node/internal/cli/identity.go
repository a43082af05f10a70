package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
)

func (p *Program) identityCommand() *cobra.Command {
	return group("identity", "Who this node is", p.identityShowCommand(), p.identityExportCommand(),
		p.identityImportCommand(), p.identityRotateCommand())
}

func (p *Program) identityShowCommand() *cobra.Command {
	c := command("show", "Show the AID and the public key history", none, func(*cobra.Command, []string) error {
		dir, err := p.folder()
		if err != nil {
			return err
		}
		v, err := keyring.Look(dir)
		if err != nil {
			return err
		}
		return p.showIdentity(node.Identity{AID: v.AID, KeySeq: v.KeySeq, KEL: v.KEL})
	})
	return example(c, "anet identity show", "anet identity show --json")
}

func (p *Program) showIdentity(id node.Identity) error {
	return p.show(id, func(w io.Writer) {
		fmt.Fprintf(w, "aid\t%s\nkey state\t%d\nhistory\t%d bytes\n", id.AID, id.KeySeq, len(id.KEL))
	})
}

func (p *Program) identityExportCommand() *cobra.Command {
	c := command("export FILE", "Write the identity, private keys included, into a new file", exactly("a file"),
		func(_ *cobra.Command, args []string) error {
			dir, err := p.folder()
			if err != nil {
				return err
			}
			v, err := keyring.Look(dir)
			if err != nil {
				return err
			}
			if err := export(dir, args[0]); err != nil {
				return err
			}
			return p.show(struct {
				AID  string `json:"aid"`
				File string `json:"file"`
			}{v.AID, args[0]}, func(w io.Writer) {
				fmt.Fprintf(w, "wrote\t%s\nWhoever has this file is %s. Keep it where nobody else can read it.\n", args[0], v.AID)
			})
		})
	c.Long = `Export writes the identity into a file that must not exist yet, readable by you
alone. It goes nowhere else: a terminal, a pipe or a log would keep it.`
	return example(c, "anet identity export ~/safe/my-node.identity")
}

// export makes a new file.
func export(dir datadir.Dir, path string) error {
	if path == "-" {
		return errs.New(errs.Invalid, "export_to_stdout", "the private keys are not printed; name a new file")
	}
	secret, err := keyring.Export(dir)
	if err != nil {
		return err
	}
	err = cmdline.NewFile(path, func(w io.Writer) error { _, err := w.Write(secret); return err })
	if err != nil {
		return fmt.Errorf("export the identity: %w", err)
	}
	return nil
}

// maxIdentity bounds a file that was surely another one: a key history has at
// most 64 KiB.
const maxIdentity = 256 << 10

func (p *Program) identityImportCommand() *cobra.Command {
	c := command("import FILE", "Be the node of an exported identity, in a folder that has none", exactly("a file"),
		func(cmd *cobra.Command, args []string) error {
			secret, err := readSmall(cmd.Context(), args[0], maxIdentity)
			if err != nil {
				return fmt.Errorf("import the identity: %w", err)
			}
			aid, dir, err := p.importInto(secret)
			if err != nil {
				return err
			}
			return p.show(Initialised{AID: aid, DataDir: dir.String(), Created: true}, func(w io.Writer) {
				fmt.Fprintf(w, "this node is now\t%s\nnext\tanet join URL\n", aid)
			})
		})
	c.Long = `Import makes this folder the node of an exported identity. Never run two nodes of
one identity: each would take mail the other should have had.`
	return example(c, "anet identity import ~/safe/my-node.identity")
}

func (p *Program) importInto(secret []byte) (aid string, dir datadir.Dir, err error) {
	path, err := p.path()
	if err != nil {
		return "", dir, err
	}
	if dir, err = datadir.Open(path); err != nil {
		return "", dir, err
	}
	claim, err := control.Take(dir)
	if err != nil {
		return "", dir, err
	}
	defer claim.Release()
	if aid, err = keyring.Import(dir, secret); err != nil {
		return "", dir, err
	}
	return aid, dir, found(dir, "")
}

func (p *Program) identityRotateCommand() *cobra.Command {
	c := command("rotate", "Replace the signing key; the AID stays", none, func(cmd *cobra.Command, _ []string) error {
		id, err := p.rotate(cmd.Context())
		if err != nil {
			return err
		}
		return p.showIdentity(id)
	})
	c.Long = `Rotate moves to the next key of the identity. Lists that name the AID stay right,
and an exported identity from before is of no use any more: export it again.
Messages that are still here are signed anew; what lies unread in the mailboxes of
others counts for an hour more.`
	return example(c, "anet identity rotate")
}

func (p *Program) rotate(ctx context.Context) (id node.Identity, err error) {
	dir, err := p.folder()
	if err != nil {
		return id, err
	}
	_, joined, err := hubclient.LoadPin(dir)
	if err != nil {
		return id, err
	}
	if !joined {
		return p.rotateAlone(dir)
	}
	err = p.manage(ctx, func(api node.API) error { id, err = api.RotateIdentity(ctx); return err })
	return id, err
}

// rotateAlone is for a node nobody has heard of yet.
func (p *Program) rotateAlone(dir datadir.Dir) (node.Identity, error) {
	claim, err := control.Take(dir)
	if err != nil {
		return node.Identity{}, err
	}
	defer claim.Release()
	keys, err := keyring.Open(dir, p.Now())
	if err != nil {
		return node.Identity{}, err
	}
	if err := keys.Rotate(p.Now()); err != nil {
		return node.Identity{}, err
	}
	s := keys.Signer()
	return node.Identity{AID: s.AID(), KeySeq: s.Seq(), KEL: s.KEL()}, nil
}
