package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/home"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// joining is one run of join.
type joining struct {
	url       string
	name      string
	invite    invite
	move      bool
	leaveMail bool
	allowHTTP bool
	running   bool // the node runs already; known afterwards
}

func (p *Program) joinCommand() *cobra.Command {
	var j joining
	c := command("join URL [flags]", "Join a hub: check and remember who it is, and register there", exactly("the hub's URL"),
		func(cmd *cobra.Command, args []string) error {
			j.url = args[0]
			registered, err := p.join(cmd.Context(), &j)
			if err != nil {
				return err
			}
			return p.show(registered, func(w io.Writer) {
				printRegistration(w, registered)
				if !j.running {
					fmt.Fprintf(w, "next\tanet up --detach\n")
				}
			})
		})
	c.Long = `Join makes the node where there is none yet, asks the hub who it is, remembers
that, and registers. From then on nobody else is taken for this hub.

With --move the mail that waits at the present hub is fetched first, and received
when the node is up; then it leaves that hub.

An invite is read from a file or from ` + inviteVariable + `, never from the command
line, which every user of the machine can read.`
	c.Flags().StringVar(&j.name, "name", "", "how others see this node")
	j.invite.flags(c.Flags())
	c.Flags().BoolVar(&j.move, "move", false, "leave the present hub for this one")
	c.Flags().BoolVar(&j.leaveMail, "leave-mail", false, "with --move: do without the mail that waits at the present hub, where it cannot be fetched")
	c.Flags().BoolVar(&j.allowHTTP, "allow-http", false, "permit a hub without encryption that is not on this machine")
	return example(c, "anet join https://hub.example.org --name my-node",
		"anet join https://hub.example.org --token-file ./invite",
		"anet join https://other.example.org --move")
}

// join goes from what can be checked alone to what others see: a wrong URL or a
// missing invite file leaves nothing behind.
func (p *Program) join(ctx context.Context, j *joining) (node.Registration, error) {
	if err := bare(j.url); err != nil {
		return node.Registration{}, err
	}
	invite, err := j.invite.read(ctx, p.Getenv)
	if err != nil {
		return node.Registration{}, err
	}
	if _, err := p.initialise(j.name); err != nil {
		return node.Registration{}, err
	}
	var out node.Registration
	err = p.either(ctx,
		func(c *control.Client) error {
			j.running = true
			out, err = p.joinRunning(ctx, c, *j, invite)
			return err
		},
		func(dir datadir.Dir) error { out, err = p.joinAtRest(ctx, dir, *j, invite); return err })
	return out, err
}

// bare refuses a URL with more in it than a place, without repeating it: that
// may be an invite.
func bare(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return errs.New(errs.Invalid, "hub_url_invalid", "this is no hub URL; write https://hub.example.org").In("url")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return errs.New(errs.Invalid, "hub_url_invalid",
			"a hub URL has no user, query or fragment; %s", inviteRule).In("url")
	}
	return nil
}

// joinRunning registers a running node once more. To change its hub under it
// would leave mail of the old one half done.
func (p *Program) joinRunning(ctx context.Context, c *control.Client, j joining, invite string) (node.Registration, error) {
	dir, err := p.folder()
	if err != nil {
		return node.Registration{}, err
	}
	pin, joined, err := hubclient.LoadPin(dir)
	if err != nil {
		return node.Registration{}, err
	}
	if !joined || j.move || !same(j.url, pin.URL) {
		return node.Registration{}, errs.New(errs.Conflict, control.AlreadyRunning,
			"the node is running; to change its hub stop it first: anet down")
	}
	return c.Register(ctx, j.name, invite)
}

func same(typed, pinned string) bool {
	u, err := hubclient.ParseURL(typed, true)
	return err == nil && u.String() == pinned
}

// joinAtRest meets the hub, and the hub takes the node in. If it does not, the
// node stays where it was. Only a node that has a new hub leaves the old one.
func (p *Program) joinAtRest(ctx context.Context, dir datadir.Dir, j joining, invite string) (out node.Registration, err error) {
	old, joined, err := standing(dir)
	if err != nil {
		return out, err
	}
	met, err := j.meet(ctx, old, joined)
	if err != nil {
		return out, err
	}
	moves := joined && met.AID != old.AID
	if moves && !j.leaveMail {
		if err := p.fetchFirst(ctx, dir, old); err != nil {
			return out, err
		}
	}
	if err := pinned(dir, met); err != nil {
		return out, err
	}
	err = p.be(ctx, dir, func(n node.API) error { out, err = n.Register(ctx, j.name, invite); return err })
	switch {
	case err != nil && old.AID != "":
		return out, errors.Join(err, pinned(dir, old))
	case err != nil:
		return out, errors.Join(err, unpinned(dir))
	case moves:
		p.leaveBehind(ctx, dir, old, j.leaveMail)
	}
	return out, nil
}

// standing is the hub the node is at. One it has left on purpose is none any
// more, though the node still knows it.
func standing(dir datadir.Dir) (pin hubclient.Pin, joined bool, err error) {
	pin, joined, err = hubclient.LoadPin(dir)
	if err != nil || !joined {
		return pin, joined, err
	}
	left, err := home.HasLeft(dir)
	return pin, !left, err
}

// meet asks the hub who it is. Another hub than the present one needs the word;
// a hub the node knows has to be the same as ever, unless the word is given.
func (j joining) meet(ctx context.Context, old hubclient.Pin, joined bool) (hubclient.Pin, error) {
	pin, known := hubclient.Pin{}, same(j.url, old.URL)
	if !j.move && (joined || known) {
		pin = old
	}
	pin.URL, pin.AllowHTTP = j.url, j.allowHTTP || known && old.AllowHTTP
	met, err := hubclient.Meet(ctx, hubclient.Options{Hub: pin})
	if errs.Is(err, "hub_identity_changed") && !known {
		return met, errs.New(errs.Conflict, "joined_elsewhere",
			"this node has joined %s; to leave it for %s say --move", old.URL, met.URL)
	}
	return met, err
}

// leaveBehind tells the old hub, with what mail has come there meanwhile. One that
// cannot be told must not keep the node: it lets go of it by itself, in time.
func (p *Program) leaveBehind(ctx context.Context, dir datadir.Dir, old hubclient.Pin, leaveMail bool) {
	if !leaveMail {
		if err := p.fetch(ctx, dir, old); err != nil {
			p.note("mail that came to %s in the last moment may be lost: %v", old.URL, err)
		}
	}
	var left wire.Deregistered
	err := p.at(dir, old, func(c *hubclient.Client) (err error) { left, err = c.Deregister(ctx); return err })
	switch {
	case err != nil:
		p.note("the old hub %s could not be told: %v", old.URL, err)
	case left.Undelivered > 0:
		p.note("%d messages that waited at %s are lost", left.Undelivered, old.URL)
	}
}

// at speaks to a hub in the node's name.
func (p *Program) at(dir datadir.Dir, hub hubclient.Pin, do func(*hubclient.Client) error) error {
	keys, err := keyring.Open(dir, p.Now())
	if err != nil {
		return err
	}
	c, err := hubclient.New(hubclient.Options{Hub: hub, Signer: keys.Signer, Now: p.Now})
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

func pinned(dir datadir.Dir, pin hubclient.Pin) error {
	if err := config.Update(dir, config.SetHubURL(pin.URL)); err != nil {
		return err
	}
	return pin.Store(dir)
}

func unpinned(dir datadir.Dir) error {
	if err := hubclient.Forget(dir); err != nil {
		return err
	}
	return config.Update(dir, config.SetHubURL(""))
}

func printRegistration(w io.Writer, r node.Registration) {
	fmt.Fprintf(w, "registered\t%s\nat\t%s\nlisted\t%s\n", r.AID, line(r.Hub), words(r.Listed))
	if len(r.Ignored) > 0 {
		fmt.Fprintf(w, "not taken\t%s\n", words(r.Ignored))
	}
	if r.CardError != "" {
		fmt.Fprintf(w, "card\t%s: %s\n", line(r.CardStatus), line(r.CardError))
	}
	if r.VisibilityError != "" {
		fmt.Fprintf(w, "visibility\t%s, and the hub was not told: %s\n", r.Visibility, line(r.VisibilityError))
	}
	if r.KeysError != "" {
		fmt.Fprintf(w, "keys\t%s: %s\n", line(r.KeysStatus), line(r.KeysError))
	}
}
