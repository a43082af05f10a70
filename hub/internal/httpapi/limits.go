package httpapi

import (
	"net/http"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// limited is a group of routes with limits of its own, to be told by GET /limits.
type limited interface {
	tell(l *wire.Limits)
}

// collect asks everything that limits something. What is told is what is
// enforced: the same constants, and the same settings.
func (a *API) collect(groups []Group) wire.Limits {
	l := wire.Limits{
		Bodies: wire.BodyLimits{
			Signed: maxSignedBody, GraceMS: grace.Milliseconds(), BytesPerSecond: least,
		},
		Pages: map[string]wire.PageLimit{},
		Rates: []wire.RateLimit{},
		Signatures: wire.SignatureLimits{
			SkewMS: relayauth.MaxSkew, RememberedMS: replay.Horizon.Milliseconds(),
			PerAgent: a.Remembers.PerSigner, Total: a.Remembers.Total,
		},
		Times: wire.TimeLimits{WaitMS: wire.MaxWait.Milliseconds()},
	}
	for _, g := range groups {
		if g, ok := g.(limited); ok {
			g.tell(&l)
		}
	}
	return l
}

func (a *API) showLimits(w http.ResponseWriter, r *http.Request) error {
	body, err := encode(a.limits)
	if err != nil {
		return err
	}
	return writeTagged(w, r, "application/json", body)
}

// rate tells of a limiter whose keys are what per says.
func rate(l *admission.Limiter, per string) wire.RateLimit {
	p := l.Policy()
	return wire.RateLimit{Policy: p.Name, Per: per, Quota: p.Size, WindowMS: p.Window.Milliseconds()}
}

func (d *Directory) tell(l *wire.Limits) {
	l.Bodies.Lookup, l.Bodies.Review = maxLookupBody, maxOpenBody
	d.Rules.Tell(l)
	d.Reviews.Tell(l)
	l.Rates = append(l.Rates, rate(d.Strangers, "address"), rate(d.Members, "agent"), rate(d.Reviewers, "address"))
	if d.Elsewhere != nil {
		l.Rates = append(l.Rates, rate(d.Elsewhere.Rate, "address"))
	}
}

func (m *Mail) tell(l *wire.Limits) {
	l.Bodies.Send = m.maxBody()
	m.Relay.Tell(l)
	l.Rates = append(l.Rates, rate(m.Relay.Senders, "agent"))
}
