package directory

import (
	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Tell adds what the directory holds requests to.
func (d *Directory) Tell(l *wire.Limits) {
	l.Registration = wire.RegistrationLimits{
		Caps: wire.MaxCaps, Cap: wire.MaxCapBytes,
		Name: maxName, Summary: maxSummary, Readme: maxReadme, Pricing: maxPricing,
		KEL: identity.MaxKELBytes, Keyset: enckeys.MaxBytes, Card: card.MaxBytes, Address: maxAddress,
	}
	l.Questions = wire.QuestionLimits{Terms: capability.MaxTerms, Text: maxText}
	l.Pages["agents"] = wire.PageLimit{Default: MaxPage, Most: MaxPage, Bytes: MaxPageBytes}
	l.Pages["cards"] = wire.PageLimit{Default: DefaultCards, Most: MaxCards, Bytes: MaxPageBytes}
	ages := d.life.Ages()
	l.Times.QuietMS, l.Times.HiddenMS = ages.Quiet.Milliseconds(), ages.Hidden.Milliseconds()
}
