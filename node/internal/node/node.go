package node

import (
	"context"
	"crypto/hpke"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/dispatch"
	"github.com/anet-hub/anet/node/internal/inbound"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/node/internal/peers"
	"github.com/anet-hub/anet/node/internal/till"
	"github.com/anet-hub/anet/node/internal/wallet"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/identity"
)

// Keys are the node's own: who it is, and what others seal to.
type Keys interface {
	AID() string
	Signer() *identity.Controller
	Private(kid envelope.KID) (hpke.PrivateKey, bool)
	Published(now time.Time) ([]byte, error)
}

// Relay is the node's way to other nodes.
type Relay interface {
	mailbox.Hub
	outbox.Hub
	known.Directory
	Reviewer
}

// Parts is what a node is made of.
type Parts struct {
	Journal   *journal.Journal
	Keys      Keys
	Lists     peers.Lists
	Relay     Relay
	Providers dispatch.Resolver
	Policy    func() config.Policy
	Public    []config.PublicCapability
	Strangers config.Strangers
	Unknown   func() // the hub does not know this node
	Ledger    Ledger // nil where no hub was joined: nothing is sold or paid
	Limits    func() config.Limits
	// Extended signs this node's extended card; nil when it has none to give.
	Extended func(list bool) ([]byte, error)

	NoResponseAfter time.Duration // 0 for never
	Log             *slog.Logger
	Now             func() time.Time
}

// Node exchanges messages with others and keeps the tasks that come of it.
type Node struct {
	Parts
	Outbox   *outbox.Outbox
	Dispatch *dispatch.Dispatch
	Till     *till.Till
	Wallet   *wallet.Wallet
	Cards    *Cards
	Mailbox  *mailbox.Mailbox
	Dropped  *mailbox.Counts

	admission *inbound.Admission
	redeeming sync.Map // payments whose voucher is at work
}

// New joins the parts. Nothing is received or sent before Run.
func New(p Parts) *Node {
	book := known.NewBook()
	n := &Node{Parts: p, Dropped: &mailbox.Counts{}, admission: inbound.NewAdmission(p.Public)}
	n.Outbox = &outbox.Outbox{
		Journal: p.Journal, Hub: p.Relay, Lost: n.lost, Log: p.Log, Now: p.Now,
		Finder: known.Finder{Book: book, Journal: p.Journal, Directory: p.Relay, Now: p.Now},
		Sealer: outbox.Sealer{Book: book, Signer: p.Keys.Signer, KeySet: p.Keys.Published},
	}
	n.Dispatch = dispatch.New(p.Journal, p.Providers, n.Outbox, p.Keys.Signer, p.Log)
	n.Till = till.New(till.Parts{AID: p.Keys.AID(), Journal: p.Journal, Dispatch: n.Dispatch, Ledger: p.Ledger, Log: p.Log, Now: p.Now})
	n.Wallet = wallet.New(wallet.Parts{
		Journal: p.Journal, Signer: p.Keys.Signer, Limits: p.Limits, Ledger: p.Ledger, Price: signedPrice,
		Say: n.sayOfPayment, Log: p.Log, Now: p.Now,
	})
	n.Cards = newCards(p, n.Outbox, book)
	handler := inbound.New(inbound.Parts{
		AID: p.Keys.AID(), Journal: p.Journal, Book: book, Lists: p.Lists, Policy: p.Policy,
		Admission: n.admission, Strangers: p.Strangers, Dispatch: n.Dispatch, Till: n.Till, Purse: n.Wallet, Cards: n.Cards, Notifier: n.Outbox,
		Dropped: n.Dropped, Log: p.Log, Now: p.Now,
	})
	opener := &mailbox.Opener{
		AID: p.Keys.AID(), Keys: p.Keys, Book: book, Journal: p.Journal,
		Inbound: handler, Dropped: n.Dropped, Log: p.Log, Now: p.Now,
	}
	n.Mailbox = mailbox.New(mailbox.Carrying(p.Relay, p.Journal), opener, p.Journal.Sync, mailbox.Events{Back: n.hubBack, Unknown: p.Unknown}, p.Log)
	return n
}

// The time a stop takes at most: calls at work may end, and what they did be
// told, before they are cut off. What is left is done after the next start.
const (
	stopCalls = 4 * time.Second
	stopSends = 2 * time.Second
)

// Run recovers what the last run left, then receives and sends until ctx ends.
// When it returns, what was done is on disk.
func (n *Node) Run(ctx context.Context) error {
	interrupted, err := n.Dispatch.Recover(ctx)
	if err != nil {
		return err
	}
	if interrupted > 0 {
		n.Log.Warn("node: calls were at work when the node last ended; their effect is unknown", "calls", interrupted)
	}
	if err := n.cancelDenied(ctx); err != nil {
		return err
	}
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	var sender errgroup.Group
	sender.Go(func() error { return n.Outbox.Run(sending) })

	var receiver errgroup.Group
	receiver.Go(func() error { n.receive(ctx); return nil })
	receiver.Go(func() error { return n.Keep(ctx) })
	receiver.Go(func() error { return n.Till.Run(ctx) })
	err = receiver.Wait()
	n.stopCalls()
	n.drain(stopSends)
	stopSending()
	if e := sender.Wait(); err == nil {
		err = e
	}
	return err
}

// receive ends before ctx only when the hub wants another wire. The node stays
// up then: its own people can still read what it has.
func (n *Node) receive(ctx context.Context) {
	if err := n.Mailbox.Run(ctx); err != nil {
		n.Log.Error("node: nothing is received any more", "error", err)
	}
}

func (n *Node) stopCalls() {
	ctx, cancel := context.WithTimeout(context.Background(), stopCalls)
	defer cancel()
	n.Dispatch.Stop(ctx)
}

// drain lets first attempts be made before sending ends. What has failed before
// is not waited for.
func (n *Node) drain(most time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	for {
		changed := n.Journal.Changed()
		fresh := 0
		err := n.Journal.Read(ctx, func(tx *journal.Tx) error {
			waiting, err := tx.Unsent()
			for _, o := range waiting {
				if o.Error == "" {
					fresh++
				}
			}
			return err
		})
		if err != nil || fresh == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (n *Node) hubBack() {
	if err := n.Outbox.HubBack(context.Background()); err != nil {
		n.Log.Error("node: cannot bring messages forward", "error", err)
	}
}
