package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/control"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/voucher"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// buying is one run of voucher buy.
type buying struct {
	yes, agent bool
	most       uint64
	plain      bool
	wait       time.Duration
}

func (p *Program) buyVoucherCommand() *cobra.Command {
	var b buying
	c := command("buy URL|AID CAPABILITY [flags]", "Buy one call at a hub's gateway", between(1, "a gateway's address, or an AID", "a capability"),
		func(cmd *cobra.Command, args []string) error {
			if err := b.sound(cmd); err != nil {
				return err
			}
			return p.atHub(func(c *hubclient.Client, pin hubclient.Pin) error {
				d, err := b.sought(args, pin)
				if err != nil {
					return err
				}
				dir, err := p.folder()
				if err != nil {
					return err
				}
				return (&buyer{p, b, d, dir, voucher.Hub{Client: c, Pin: pin, Now: p.Now}}).buy(cmd.Context())
			})
		})
	c.Long = `Buy asks a gateway what a call costs, signs for it after a yes, within the limits of
anet payments show, and prints the voucher that it gets for the payment: for anet voucher
redeem, within ten minutes. With an AID and a capability it buys at the gateway of the
hub of this node. Between two nodes anet delegate --pay does all of it at once, sealed.

What was signed is kept until its voucher was printed. Where an answer is lost, or
the hub does not know yet, the same payment is brought again, now and by the next such
command; no other is signed for it.`
	f := c.Flags()
	f.BoolVar(&b.agent, "agent", false, "on the word of a program: nobody is asked, and the limits for programs hold")
	cmdline.Credits(f, &b.most, "max", 0, "the most credits it may cost (the limit of one payment when absent)")
	f.BoolVar(&b.plain, "allow-http", false, "buy over plain http from another machine")
	f.DurationVar(&b.wait, "wait", time.Minute, "bring the payment again this long while its outcome is not known")
	yesFlag(c, &b.yes)
	c.ValidArgsFunction = p.completePeers
	exiting(c, means(exitDone, "the voucher was bought and holds"),
		means(exitRefused, "refused or unavailable: by the gateway, the hub, or a limit of this node"),
		means(exitUnverified, "it may be paid: the same command brings the same payment again"))
	return example(c, "anet voucher buy AID text.digest", "anet voucher buy https://hub.example.org/x402/resource/AID/text.digest --yes --max 5 --json >bought.json")
}

func (b *buying) sound(cmd *cobra.Command) error {
	switch {
	case b.yes && b.agent:
		return wrongUse("--yes is a person's word and --agent a program's: give one")
	case cmd.Flags().Changed("max") && b.most < 1:
		return wrongUse("--max is a number of credits from 1 on")
	case b.wait <= 0:
		return wrongUse("--wait takes a time such as 30s")
	}
	return nil
}

// deal is what is bought, and where.
func (b *buying) sought(args []string, pin hubclient.Pin) (voucher.Deal, error) {
	if len(args) == 2 {
		if err := fullAID(args[0]); err != nil {
			return voucher.Deal{}, err
		}
		return voucher.DealAt(pin.URL, args[0], args[1])
	}
	if !strings.Contains(args[0], "://") {
		return voucher.Deal{}, wrongUse("say what to buy: the address of a gateway, or an AID and a capability")
	}
	safe := b.plain || pin.AllowHTTP && strings.HasPrefix(args[0], pin.URL+"/")
	at, err := voucher.Source{Mine: true, AllowHTTP: safe}.Address(args[0])
	if err != nil {
		return voucher.Deal{}, err
	}
	return voucher.DealOf(at), nil
}

// buyer buys one thing.
type buyer struct {
	*Program
	buying
	deal voucher.Deal
	dir  datadir.Dir
	hub  voucher.Hub
}

// buy goes on with a payment that was left behind, or makes one.
func (b *buyer) buy(ctx context.Context) error {
	kept, err := voucher.Left(b.dir, b.deal.At.String())
	if err != nil {
		return err
	}
	if kept != nil {
		b.note("going on with the payment of %s credits that was signed %s; no other is signed", kept.Amount, clock(kept.Signed))
		if lapsed, err := b.collect(ctx, kept); !lapsed {
			return err
		}
		b.note("that payment moved nothing, and no longer can")
	}
	if kept, err = b.pay(ctx); err != nil {
		return err
	}
	_, err = b.collect(ctx, kept)
	return err
}

// pay signs for what the gateway asks, and keeps that before it is sent.
func (b *buyer) pay(ctx context.Context) (*voucher.Kept, error) {
	ask, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	d, q, err := voucher.NewLine().Quote(ask, b.deal)
	if err != nil {
		return nil, ofAnotherHub(err)
	}
	q, amount, err := oneOption(q)
	if err != nil {
		return nil, err
	}
	if b.most > 0 && amount > b.most {
		return nil, errs.New(errs.Forbidden, "payment_over_limit", "the call costs %s, more than the %d agreed to; nothing was signed", credits(amount), b.most)
	}
	c := control.Dial(b.dir)
	defer c.Close()
	question := fmt.Sprintf("Pay %s to %s for a call of %s?", credits(amount), d.Seller, quoted(d.Capability))
	a, err := b.sign(ctx, c, q, amount, question, b.yes, b.agent)
	if err != nil {
		return nil, ofAnotherHub(err)
	}
	return voucher.Keep(b.dir, voucher.Kept{
		URL: d.At.String(), Seller: d.Seller, Capability: d.Capability,
		Payment: a.Header, Transaction: a.Transaction, Amount: a.Amount, Signed: b.Now(), Expires: a.Expires,
	})
}

// ofAnotherHub says how a call is bought that no gateway sells to this node. Clearing
// is of no help there: a gateway quotes credits of its own ledger alone.
func ofAnotherHub(err error) error {
	const instead = "a gateway sells for agents of its own hub, for credits of that hub; call one of another hub with anet delegate AID --capability ID --pay"
	switch {
	case errs.Is(err, string(task.RailNotPayable)):
		return errs.New(errs.Forbidden, string(task.RailNotPayable), "the gateway takes no credits of this node's hub, and nothing was signed; %s", instead)
	case errs.Is(err, agentUnknown):
		return errs.New(errs.Forbidden, agentUnknown, "%s; %s", errs.As(err).Message, instead)
	}
	return err
}

// agentUnknown is a gateway's word for who is not registered at its hub.
const agentUnknown = "agent_unknown"

// collect gets the voucher for a payment and prints it. lapsed says that the payment
// moved nothing and can be of no use to anybody any more.
func (b *buyer) collect(ctx context.Context, kept *voucher.Kept) (lapsed bool, err error) {
	defer kept.Close()
	ctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	sold, err := voucher.NewLine().Pay(ctx, kept)
	if err != nil {
		return b.refused(kept, err)
	}
	v, receipt, err := b.hub.Check(ctx, kept, sold)
	if errs.Is(err, voucher.Mismatch) && kept.Lapsed(b.Now()) {
		return false, errors.Join(err, kept.Done()) // it will never get better
	}
	if err != nil {
		return false, err
	}
	if v.Timely(b.Now()) != nil {
		return false, errors.Join(kept.Done(),
			errs.New(errs.Forbidden, "voucher_expired", "it was paid, and the voucher for it could be redeemed until %s", clock(v.Ends())))
	}
	if err := b.showVoucher(v, sold, receipt); err != nil {
		return false, err
	}
	return false, kept.Done()
}

// refused says what to do with a payment that bought nothing.
func (b *buyer) refused(kept *voucher.Kept, err error) (lapsed bool, _ error) {
	nothing := errs.KindOf(err) == errs.PaymentRequired
	switch {
	case !nothing && errs.KindOf(err) != errs.Forbidden: // not known: it stays
	case !kept.Lapsed(b.Now()):
		b.note("what was signed is of use until %s: until then the same command brings it again, and signs no other", clock(kept.Useless()))
	case nothing:
		return true, kept.Done()
	default:
		b.note("what was signed is of no use any more; whether it moved credits before: anet ledger")
		return false, errors.Join(err, kept.Done())
	}
	return false, err
}

// purchase is what was bought, with the members that the gateway's answer has.
type purchase struct {
	Voucher     []byte `json:"voucher"`
	RedeemAt    string `json:"redeem_at"`
	Capability  string `json:"capability"`
	Provider    string `json:"provider"`
	Transaction string `json:"transaction"`
	ExpiresAt   uint64 `json:"expires_at"` // ms

	VoucherID  string          `json:"voucher_id"`
	Amount     string          `json:"amount"`
	Network    string          `json:"network"`
	Settlement json.RawMessage `json:"settlement"`
	Receipt    string          `json:"receipt_verified"`
}

func (b *buyer) showVoucher(v voucher.Voucher, sold voucher.Sold, receipt string) (err error) {
	out := purchase{
		Voucher: v.Raw, RedeemAt: v.RedeemAt, Capability: v.Capability, Provider: v.PayTo, Transaction: v.AuthID, ExpiresAt: v.NotAfter,
		VoucherID: v.ID(), Amount: payment.FormatAmount(v.Amount), Network: v.Network, Receipt: receipt,
	}
	if out.Settlement, err = codec.MarshalJSON(sold.Settlement); err != nil {
		return err
	}
	if err := b.show(out, func(w io.Writer) { fmt.Fprintln(w, codec.EncodeB64(v.Raw)) }); err != nil {
		return err
	}
	b.note("bought for %s: a call of %s, until %s; the hub's receipt is %s", credits(v.Amount), quoted(v.Capability), clock(v.Ends()), receipt)
	b.note("have it done: anet voucher redeem --file FILE --args JSON, with what was printed in the file; - reads it from stdin")
	return nil
}
