package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/wallet"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// maxBill is what the quote of a server has at most: servers send it in a header.
const maxBill = 64 << 10

func (p *Program) authorizeCommand() *cobra.Command {
	var yes, agent bool
	c := command("authorize QUOTE [--yes | --agent]", "Sign a payment for the quote of an x402 server", exactly("a quote, or - for stdin"),
		func(cmd *cobra.Command, args []string) error {
			if yes && agent {
				return wrongUse("--yes is a person's word and --agent a program's: give one")
			}
			quote, err := p.readQuote(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return p.ask(func(api node.API) error { return p.authorize(cmd.Context(), api, quote, yes, agent) })
		})
	c.Long = `Authorize signs for what costs credits outside of the tasks of this node: at a hub's
gateway, or at any x402 server that takes them. The quote is the value of the header
PAYMENT-REQUIRED, or the JSON in it; what is printed goes into PAYMENT-SIGNATURE.

Whoever gets the signature can have the credits moved, once. It is within the limits of
anet payments show. Where an answer is lost, send the same signature again: another one
is another payment.`
	yesFlag(c, &yes)
	c.Flags().BoolVar(&agent, "agent", false, "on the word of a program: nobody is asked, and the limits for programs hold")
	return example(c, `anet authorize "$PAYMENT_REQUIRED"`, "anet authorize - --agent --json <quote.json")
}

// readQuote takes a quote as a header has it, or as JSON.
func (p *Program) readQuote(ctx context.Context, given string) (q payment.PaymentRequired, err error) {
	raw := []byte(given)
	if given == "-" {
		raw, err = cmdline.UnlessStopped(ctx, func() ([]byte, error) { return bounded(p.In, "stdin", maxBill) })
		if err != nil {
			return q, err
		}
	}
	text := strings.TrimSpace(string(raw))
	if !strings.HasPrefix(text, "{") {
		if raw, err = codec.DecodeB64(text); err != nil {
			return q, errs.New(errs.Invalid, "quote_malformed", "this is no x402 quote: neither JSON nor base64 of it").In("quote")
		}
		text = string(raw)
	}
	if q, err = payment.ParseRequired([]byte(text)); err != nil {
		return q, errs.New(errs.Invalid, "quote_malformed", "this is no x402 quote of version 2").In("quote").Because(err)
	}
	return q, nil
}

// authorize binds the yes to the one option that was shown.
func (p *Program) authorize(ctx context.Context, api node.API, q payment.PaymentRequired, yes, agent bool) error {
	q, amount, err := oneOption(q)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Sign away %s to %s?", credits(amount), line(q.Accepts[0].PayTo))
	a, err := p.sign(ctx, api, q, amount, question, yes, agent)
	if err != nil {
		return err
	}
	return p.show(a, func(w io.Writer) { fmt.Fprintln(w, a.Header) })
}

// oneOption leaves the one way of paying in credits that a quote has.
func oneOption(q payment.PaymentRequired) (_ payment.PaymentRequired, amount uint64, err error) {
	q.Accepts = slices.DeleteFunc(slices.Clone(q.Accepts), func(o payment.Requirements) bool {
		return o.Scheme != payment.Scheme || o.Asset != payment.Asset
	})
	if len(q.Accepts) != 1 {
		return q, 0, errs.New(errs.Invalid, "quote_ambiguous", "the quote has %d ways to pay in credits; give one with exactly one", len(q.Accepts)).In("quote")
	}
	if amount, err = payment.ParseAmount(q.Accepts[0].Amount); err != nil {
		return q, 0, errs.New(errs.Invalid, "invalid_amount", "the quote asks for %s, which is no amount of credits", quoted(q.Accepts[0].Amount)).In("quote")
	}
	return q, amount, nil
}

// sign has the node sign for a quote on the word of a person, who is asked, or of a
// program.
func (p *Program) sign(ctx context.Context, api node.API, q payment.PaymentRequired, amount uint64, question string, yes, agent bool) (a node.Authorization, err error) {
	b := node.Bill{Consent: node.Consent{Max: amount}}
	if agent {
		b.Consent.Tier = string(wallet.Agent)
	} else if err := p.confirm(ctx, yes, question); err != nil {
		return a, err
	}
	if b.Quote, err = json.Marshal(q); err != nil {
		return a, err
	}
	return api.Authorize(ctx, b)
}
