package app

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// check refuses limits that no hub could work with: at the start, where somebody
// reads it, and not at the first request that meets them.
func (c *Config) check() error {
	switch {
	case !(c.SendRate > 0) || c.SendBurst < 1: // NaN is not above 0 either
		return errors.New("--relay-send-rate has to be above 0 and --relay-send-burst at least 1")
	case !(c.RegisterRate > 0) || c.RegisterBurst < 1:
		return errors.New("--register-rate has to be above 0 and --register-burst at least 1")
	case !(c.ReviewRate > 0) || c.ReviewBurst < 1:
		return errors.New("--review-rate has to be above 0 and --review-burst at least 1")
	case !(c.KeysLookupRate > 0) || c.KeysLookupBurst < 1:
		return errors.New("--keys-lookup-rate has to be above 0 and --keys-lookup-burst at least 1")
	case !(c.SettleRate > 0) || c.SettleBurst < 1:
		return errors.New("--settle-rate has to be above 0 and --settle-burst at least 1")
	case !(c.PaymentRate > 0) || c.PaymentBurst < 1:
		return errors.New("--payment-rate has to be above 0 and --payment-burst at least 1")
	case !(c.SettleAbroadRate > 0) || c.SettleAbroadBurst < 1:
		return errors.New("--settle-abroad-rate has to be above 0 and --settle-abroad-burst at least 1")
	case c.RegistrationGrant > payment.MaxAmount:
		return fmt.Errorf("--registration-grant is at most %d", int64(payment.MaxAmount))
	case c.MailMessages < 1 || c.MailTTL <= 0:
		return errors.New("--relay-mailbox-messages has to be at least 1 and --relay-ttl above 0")
	case c.QuietAfter < time.Second || c.HiddenAfter < c.QuietAfter || c.HiddenAfter > maxAge:
		return errors.New("--quiet-after has to be at least 1s, and --hidden-after that or more, up to ten years")
	case !isAddress(c.PublicURL):
		return errors.New("--public-url has to be an address such as https://hub.example.org")
	case c.DatabaseConns < 1:
		return errors.New("--database-conns has to be at least 1")
	case c.Envelope > wire.MaxEnvelopeBytes:
		return fmt.Errorf("--relay-max-envelope is %s, and no envelope has more than %s", size(c.Envelope), size(wire.MaxEnvelopeBytes))
	case c.Memory < c.leastMemory():
		return fmt.Errorf("--memory-budget is %s, and these limits need %s", size(c.Memory), size(c.leastMemory()))
	}
	_, err := c.proxies()
	return errors.Join(err, c.checkFederation())
}

// maxAge keeps times that are counted back from now within what a database takes.
const maxAge = 10 * 365 * 24 * time.Hour

// isAddress reports whether nodes can put the URL into their cards, or there is
// none: what it cannot be would fail at every node, one by one.
func isAddress(raw string) bool {
	if raw == "" {
		return true
	}
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// leastMemory lets the largest request pass when it is alone. A send holds its
// body in base64, its envelope, and the copy on the way to the database: less
// than four envelopes. A list holds two pages of 4 MiB.
func (c *Config) leastMemory() Bytes { return max(4*c.Envelope, c.PollBudget, 16<<20) }

func size(b Bytes) string { return b.String() }
