package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/voucher"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/payment"
)

func (p *Program) voucherCommand() *cobra.Command {
	return group("voucher", "Calls that a hub's gateway sells", p.buyVoucherCommand(), p.redeemVoucherCommand())
}

// bearing is one run of voucher redeem.
type bearing struct {
	file  string
	at    string
	args  arguments
	late  bool
	plain bool
	wait  time.Duration
}

func (p *Program) redeemVoucherCommand() *cobra.Command {
	var b bearing
	c := command("redeem VOUCHER|-|--file FILE [flags]", "Have the call done that a voucher bought", between(0, "a voucher"),
		func(cmd *cobra.Command, args []string) error {
			text, err := b.text(cmd, p, args)
			if err != nil {
				return err
			}
			return p.redeemVoucher(cmd, b, text)
		})
	c.Long = `Redeem checks a voucher and brings it to the seller, which does the call once and
answers with what came of it. The voucher is what a hub's gateway sold: in base64, or
the whole JSON answer of the gateway or of anet voucher buy. Whoever has it can use it,
and other users of this machine can read a command line: - and --file keep it to you.

It is brought to --at, else to the address beside it in the JSON, else to the one on the
seller's signed card at the hub of this node: over https, or on this machine.

Where the answer is lost, give the same command again: the seller tells what came of it,
and does nothing twice. That holds after the voucher's time, too, with --late. The answer
is the seller's word, without a receipt: only a call between nodes has one.`
	f := c.Flags()
	f.StringVar(&b.file, "file", "", "file with the voucher")
	f.StringVar(&b.at, "at", "", "address of the seller")
	b.args.flags(f)
	f.BoolVar(&b.late, "late", false, "bring it after its time, to hear what came of it before")
	f.BoolVar(&b.plain, "allow-http", false, "bring it over plain http to another machine")
	f.DurationVar(&b.wait, "wait", 3*time.Minute, "wait this long for the answer")
	c.ValidArgsFunction = cobra.NoFileCompletions
	exiting(c, means(exitDone, "the effect happened"),
		means(exitRefused, "refused or unavailable: nothing was done"),
		means(exitFailed, "it did not happen"),
		means(exitUnverified, "it may have happened: the answer was lost or says nothing"),
		means(exitWaiting, "still at work when --wait ended: give the same command again"))
	return example(c, `anet voucher redeem --file bought.json --args '{"text":"hello"}'`,
		`anet voucher buy AID text.digest --yes | anet voucher redeem - --args-file args.json --json`,
		"anet voucher redeem - --at https://node.example.org/redeem --wait 30s <voucher.txt")
}

// text reads the voucher from where it was said to be.
func (b *bearing) text(cmd *cobra.Command, p *Program, args []string) ([]byte, error) {
	stdin := len(args) > 0 && args[0] == "-"
	switch {
	case len(args) == 0 && b.file == "":
		return nil, wrongUse("a voucher is missing: give it, - for stdin, or --file FILE")
	case len(args) > 0 && b.file != "":
		return nil, wrongUse("give the voucher once: as an argument, or in --file")
	case (stdin || b.file == "-") && b.args.file == "-":
		return nil, wrongUse("the voucher and the arguments cannot both come from stdin")
	case b.wait <= 0:
		return nil, wrongUse("--wait takes a time such as 30s")
	case stdin || b.file == "-":
		return cmdline.UnlessStopped(cmd.Context(), func() ([]byte, error) { return bounded(p.In, "stdin", voucher.MaxText) })
	case b.file != "":
		return readSmall(cmd.Context(), b.file, voucher.MaxText)
	}
	return []byte(args[0]), nil
}

// redeemVoucher looks at everything that can be seen here before anybody has the
// voucher.
func (p *Program) redeemVoucher(cmd *cobra.Command, b bearing, text []byte) error {
	v, err := voucher.Read(text)
	if err != nil {
		return err
	}
	if !b.late {
		if err := v.Timely(p.Now()); err != nil {
			return err
		}
	}
	args, err := b.args.read(cmd, p)
	if err != nil {
		return err
	}
	if err := v.Fits(args); err != nil {
		return err
	}
	return p.atHub(func(c *hubclient.Client, pin hubclient.Pin) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), b.wait)
		defer cancel()
		hub := voucher.Hub{Client: c, Pin: pin, Now: p.Now}
		if err := hub.Verify(ctx, v); err != nil {
			return err
		}
		at, err := b.address(ctx, hub, v)
		if err != nil {
			return err
		}
		return p.bring(ctx, v, at, args)
	})
}

// address is where the voucher is brought.
func (b *bearing) address(ctx context.Context, hub voucher.Hub, v voucher.Voucher) (_ *url.URL, err error) {
	s := voucher.Source{AllowHTTP: b.plain, Mine: b.at != "", Near: hub.Near()}
	at := b.at
	if at == "" {
		at = v.RedeemAt
	}
	if at == "" {
		if at, err = hub.RedeemAt(ctx, v.PayTo); err != nil {
			return nil, err
		}
	}
	return s.Address(at)
}

// redemption is what became of a voucher.
type redemption struct {
	VoucherID   string    `json:"voucher_id"`
	Transaction string    `json:"transaction"`
	Capability  string    `json:"capability"`
	Provider    string    `json:"provider"`
	Payer       string    `json:"payer"`
	Amount      string    `json:"amount"`
	RedeemAt    string    `json:"redeem_at"`
	Expires     time.Time `json:"expires"`

	Effect      effect.Status   `json:"effect_status"`
	Reason      string          `json:"reason"`
	Message     string          `json:"message"`
	SpentBefore bool            `json:"spent_before"`
	Deliverable json.RawMessage `json:"deliverable"`
	Receipt     string          `json:"receipt_verified"` // of the work: unknown, there is none
}

func (p *Program) bring(ctx context.Context, v voucher.Voucher, at *url.URL, args json.RawMessage) error {
	r, err := voucher.NewLine().Redeem(ctx, at, v, args)
	if err != nil {
		return err
	}
	out := redemption{
		VoucherID: v.ID(), Transaction: v.AuthID, Capability: v.Capability, Provider: v.PayTo, Payer: v.Payer,
		Amount: payment.FormatAmount(v.Amount), RedeemAt: at.String(), Expires: v.Ends().UTC(),
		Effect: r.Status, Reason: r.Reason, Message: r.Message, SpentBefore: r.Before, Deliverable: r.Answer, Receipt: "unknown",
	}
	if err := p.show(out, func(w io.Writer) { printRedemption(w, out) }); err != nil {
		return err
	}
	return exitWith(effects[r.Status])
}

func printRedemption(w io.Writer, r redemption) {
	fmt.Fprintf(w, "voucher\t%s\nprovider\t%s\ncalls\t%s\n", r.VoucherID, r.Provider, line(r.Capability))
	fmt.Fprintf(w, "price\t%s credits, paid to the provider\n", r.Amount)
	fmt.Fprintf(w, "effect\t%s\n", r.Effect)
	if r.SpentBefore {
		fmt.Fprintln(w, "note\tthe voucher was spent before; this is what came of it then")
	}
	if r.Reason != "" {
		fmt.Fprintf(w, "reason\t%s\n", line(r.Reason))
	}
	if r.Message != "" {
		fmt.Fprintf(w, "message\t%s\n", line(r.Message))
	}
	if r.Effect == effect.Unverified {
		fmt.Fprintln(w, "careful\tit may have happened; check before you buy it again")
	}
	fmt.Fprintf(w, "receipt\tnone: this is the word of who answers at %s\n", line(r.RedeemAt))
	printJSON(w, "answer", r.Deliverable)
}
