package listing

import (
	"context"
	"fmt"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// cardFile keeps the last card that was signed: the same content is published
// under the same bytes, a new one under a higher sequence. A withdrawn card
// stays here, since its sequence still counts at the hub.
const cardFile = "card.json"

// Hub takes registrations.
type Hub interface {
	Register(ctx context.Context, body wire.Register) (wire.Registered, error)
}

// Publisher makes registrations for one node at one hub.
type Publisher struct {
	Dir  datadir.Dir
	Keys *keyring.Keyring
	Pin  hubclient.Pin
	Now  func() time.Time

	resell bool // the card of prices on disk does not do at the hub
}

// Report is what the hub made of a registration.
type Report struct {
	wire.Registered
	Listed []string // what was asked to be listed
	// CardProblem says why no card was sent though there are skills, nil when one
	// was. The node is then listed on its word alone.
	CardProblem error
}

// Statuses of keys and card that mean the hub has a later one than this node
// remembers, as after the node was restored from a backup (I.3, steps 14, 15).
const conflict = "conflict"

// Register lists the node. Where the hub turns out to know a later card or key
// set, it tries once more with newer ones.
func (p Publisher) Register(ctx context.Context, hub Hub, l Listing, invite string) (Report, error) {
	report, err := p.try(ctx, hub, l, invite, p.lastCard(), p.Keys.Published)
	if errs.Is(err, saleRefused) && !p.resell {
		p.resell = true
		return p.Register(ctx, hub, l, invite)
	}
	if err != nil || (report.CardStatus != conflict && report.KeysStatus != conflict) {
		return report, err
	}
	keyset, last := p.Keys.Published, p.lastCard()
	if report.KeysStatus == conflict {
		keyset = p.Keys.Renewed
	}
	if report.CardStatus == conflict {
		last = nil
	}
	return p.try(ctx, hub, l, invite, last, keyset)
}

func (p Publisher) try(ctx context.Context, hub Hub, l Listing, invite string, last []byte, keyset func(time.Time) ([]byte, error)) (Report, error) {
	body, problem, err := p.body(l, last, keyset)
	if err != nil {
		return Report{}, err
	}
	body.Invite = invite
	answer, err := hub.Register(ctx, body)
	return Report{Registered: answer, Listed: body.Caps, CardProblem: problem}, err
}

// body is the registration (wire 2, I.3). The same offer under the same keys
// gives the same bytes, which the hub recognises.
func (p Publisher) body(l Listing, last []byte, keyset func(time.Time) ([]byte, error)) (body wire.Register, cardProblem, err error) {
	keys, err := keyset(p.Now())
	if err != nil {
		return body, nil, fmt.Errorf("publish the encryption keys: %w", err)
	}
	signer := p.Keys.Signer()
	body = wire.Register{
		AID: signer.AID(), Name: l.name(signer.AID()), Caps: l.Shown(),
		Summary: l.Profile.Summary, Readme: l.Profile.Readme, Pricing: l.Profile.Pricing,
		KEL: signer.KEL(), EncKeys: keys, A2ACard: wire.RawJSON("null"),
	}
	if err := p.sell(&body, l); err != nil {
		return body, nil, err
	}
	if len(l.Skills) == 0 {
		return body, nil, nil
	}
	signed, cardProblem, err := p.card(l, last)
	if signed != nil {
		body.A2ACard = signed
	}
	return body, cardProblem, err
}

// card signs the network card and keeps it. A card that may not be published, as
// one that names a hub on this machine, is a problem and no failure.
func (p Publisher) card(l Listing, last []byte) (signed []byte, problem, err error) {
	signer := p.Keys.Signer()
	profile := p.profile(l, l.extensions())
	signed, problem = card.Publish(signer, profile, last, p.Now())
	switch {
	case problem != nil && card.CheckHub(profile.HubURL) != nil:
		return nil, fmt.Errorf("no card was published: %w; the hub's operator has to give it a --public-url that others can use", problem), nil
	case problem != nil:
		return nil, fmt.Errorf("no card was published: %w", problem), nil
	}
	if string(signed) == string(last) {
		return signed, nil, nil
	}
	return signed, nil, p.Dir.Write(cardFile, signed)
}

// profile is what the node's cards say of it.
func (p Publisher) profile(l Listing, extensions []card.Extension) card.Profile {
	aid := p.Keys.AID()
	return card.Profile{
		AID: aid, HubURL: p.Pin.Shown(), Name: l.name(aid), Description: l.Profile.Summary,
		Skills: l.Skills, Extensions: extensions, ExtendedCard: true,
	}
}

// Extended signs what the node says beyond its public card: prices, and with them
// the skills that more serves. It has the sequence and the times of the public card
// that was published last, and is nil where it would say nothing more than that
// one, or there is none (wire 2, H.7).
func (p Publisher) Extended(l, more Listing) ([]byte, error) {
	last, signer := p.lastCard(), p.Keys.Signer()
	if len(l.Skills) == 0 || last == nil || len(more.Prices.Prices) == 0 && len(more.Skills) == len(l.Skills) {
		return nil, nil
	}
	public, err := card.Read(last)
	if err != nil {
		return nil, err
	}
	more.PublicPrices = false
	extensions := more.extensions()
	if len(more.Prices.Prices) > 0 {
		extensions = append(extensions, more.Prices.Extension(card.ExtPrice))
	}
	profile := p.profile(more, extensions)
	unsigned, err := profile.Build(public.Stamp)
	if err != nil {
		return nil, err
	}
	return card.Sign(signer, unsigned, card.JWKSURL(profile.HubURL, profile.AID))
}

// lastCard is nil when there is none that can be read. Then the next sequence
// comes from the clock, and is later than any before.
func (p Publisher) lastCard() []byte {
	last, err := p.Dir.Read(cardFile)
	if err != nil {
		return nil
	}
	if _, err := card.Read(last); err != nil {
		return nil
	}
	return last
}
