// Package service is the provider for programs on this machine: a call is an
// HTTP POST of its arguments to a program on a Unix socket, the answer a JSON
// object.
//
// The program does not get a say in how far its word is to be trusted: what it
// answers is reported as its word (verify_trust 1), and a failure is
// Unavailable only when certainly nothing was sent to it.
//
// # A request
//
//	POST /                          (over TCP: the path of the URL)
//	Content-Type: application/json
//	Authorization: Bearer …         with token_file
//	X-ANet-Capability: text.digest  the id as called, which may lie below the one configured
//	X-ANet-Caller: bafyrei…         the AID that asks
//	X-ANet-Task: …                  the same for every request of one task
//
//	{"text": "hello"}
package service

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
)

// Provider answers the ids of the module's configuration.
type Provider struct {
	programs map[string]*program // by capability id
	ids      []string
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Priced   = (*Provider)(nil)
	_ provider.Timed    = (*Provider)(nil)
)

// program is one configured capability and the way to whoever answers it.
type program struct {
	config.ServiceCapability
	limit     time.Duration
	tokenFile string
	target    string // URL of the request
	client    *http.Client
	reach     func(ctx context.Context) error
	where     string // for people, and to tell programs apart
}

// New takes a configuration that config.Parse accepted.
func New(c *config.Service) (*Provider, error) { return newBelow(c, "/") }

// newBelow is New with socket folders checked from a given folder on.
func newBelow(c *config.Service, trusted string) (*Provider, error) {
	p := &Provider{programs: map[string]*program{}}
	for _, one := range c.Capabilities {
		prog := &program{ServiceCapability: one, limit: c.Limit(one), tokenFile: c.Token(one)}
		if err := prog.connect(c.AllowTCP, trusted); err != nil {
			return nil, err
		}
		p.programs[one.ID] = prog
		p.ids = append(p.ids, one.ID)
	}
	slices.Sort(p.ids)
	return p, nil
}

// connect decides how the program is reached; nothing is contacted yet.
func (p *program) connect(allowTCP bool, trusted string) error {
	u, err := url.Parse(p.URL)
	switch {
	case err != nil:
		return errs.New(errs.Invalid, "service_url_invalid", "the url of capability %s cannot be read", p.ID)
	case u.Scheme == "unix":
		p.overSocket(socket{path: u.Path, trusted: trusted})
	case allowTCP:
		p.overTCP(u)
	default:
		return errs.New(errs.Forbidden, "service_tcp_not_allowed",
			"capability %s is to be answered over TCP, and allow_tcp is not set", p.ID)
	}
	return nil
}

// ID names the module.
func (p *Provider) ID() string { return "service" }

// Capabilities are the configured ids, whether their programs run or not: a
// call to one that does not is Unavailable, and Health says so.
func (p *Provider) Capabilities() []string { return slices.Clone(p.ids) }

// Describe gives the operator's words about an id.
func (p *Provider) Describe(capID string) card.Skill {
	prog, ok := p.find(capID)
	if !ok {
		return card.Skill{ID: capID}
	}
	return card.Skill{
		ID: capID, Name: prog.Name, Description: prog.Description, Tags: prog.Tags,
		Examples: prog.Examples, InputModes: prog.InputModes, OutputModes: prog.OutputModes,
	}
}

// Price is the configured one.
func (p *Provider) Price(capID string) (uint64, bool) {
	prog, ok := p.find(capID)
	if !ok || prog.ServiceCapability.Price == 0 {
		return 0, false
	}
	return prog.ServiceCapability.Price, true
}

// Limit is the configured one.
func (p *Provider) Limit(capID string) time.Duration {
	if prog, ok := p.find(capID); ok {
		return prog.limit
	}
	return config.DefaultTimeout
}

// find is the registry's resolution among the ids of this module.
func (p *Provider) find(capID string) (*program, bool) {
	if prog, ok := p.programs[capID]; ok {
		return prog, true
	}
	for parent := range capability.Parents(capID) {
		if prog, ok := p.programs[parent]; ok {
			return prog, true
		}
	}
	return nil, false
}

// healthPatience bounds the look at one program.
const healthPatience = 2 * time.Second

// Health connects to every program once and says which do not answer.
func (p *Provider) Health(ctx context.Context) error {
	var sick []error
	seen := map[string]bool{}
	for _, id := range p.ids {
		prog := p.programs[id]
		if seen[prog.where] {
			continue
		}
		seen[prog.where] = true
		if err := prog.check(ctx); err != nil {
			sick = append(sick, errs.New(errs.Unavailable, "service_unreachable", "%s does not answer", prog.where).Because(err))
		}
	}
	return errors.Join(sick...)
}

func (p *program) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	if _, err := p.token(); err != nil {
		return err
	}
	return p.reach(ctx)
}
