package doctor

import (
	"context"

	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/node/internal/provider/service"
	"github.com/anet-hub/anet/node/internal/till"
)

// checkServices looks behind the capabilities: is there a program that answers,
// and may it be trusted to be the operator's.
func (x *exam) checkServices(ctx context.Context) {
	if x.conf == nil {
		x.skip("services", "the config cannot be read")
		return
	}
	registry := &provider.Registry{}
	healthy := true
	if x.conf.Modules.Service != nil {
		p, err := service.New(x.conf.Modules.Service)
		if err == nil {
			err = registry.Register(p)
		}
		if err != nil {
			x.found("services", err.Error(), "")
			return
		}
		healthy = x.checkPrograms(ctx, p)
	}
	if x.checkPublic(registry) && healthy {
		x.fine("services", "%d capabilities, all answered", len(registry.Served()))
	}
}

func (x *exam) checkPrograms(ctx context.Context, p *service.Provider) bool {
	err := p.Health(ctx)
	if err == nil {
		return true
	}
	for _, one := range each(err) {
		x.found("services", one.Error(), "start the program, or mend its url in modules.service")
	}
	return false
}

// each takes joined errors apart.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// checkPublic finds capabilities that are opened to everybody and yet not
// offered.
func (x *exam) checkPublic(registry *provider.Registry) bool {
	healthy := true
	for _, public := range x.conf.Inbound.PublicCapabilities {
		p, served := registry.Resolve(public.ID)
		if !served {
			x.found("services", public.ID+" is public, and nothing serves it: it is not listed",
				"add it to modules.service.capabilities, or take it out of inbound.public_capabilities")
			healthy = false
			continue
		}
		if _, priced := provider.PriceOf(p, public.ID); priced && !till.Built {
			x.found("services", public.ID+" has a price, and this program was built without payments: it is not listed and not served",
				"take the price out, or the capability")
			healthy = false
		}
	}
	return healthy
}
