// Package doctor looks at a hub from the outside in, the way a node comes: its
// name, its certificate, what stands before it, what arrives of a request, and
// then its database and disk. It changes nothing and starts nothing.
//
// The one rule: a finding says what is wrong, why that matters, and what to do.
package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/checkup"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Inside is what only the hub's operator has. Key and Facts may be missing.
type Inside struct {
	None  bool  // no hub lives on this machine, as far as anybody was told
	Err   error // why there is nothing
	Key   *identity.Controller
	Facts *postgres.Facts
	Peers []peers.Standing // in table order; known where Facts are
	Conns int              // that one process opens at most
	Dir   string           // of data; empty where it is not on this machine
}

// Case is what to look at.
type Case struct {
	URL    *url.URL
	Roots  *x509.CertPool // nil: the system's
	Slow   bool           // take the minute that a long poll takes
	Inside Inside
	Now    func() time.Time
	Net    Net                // to peers
	Tell   func(check string) // before each check

	// Dial and Resolve are as usual where they are nil.
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Resolve func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// exam is one examination.
type exam struct {
	Case
	results checkup.Results
	client  *http.Client

	addresses []netip.Addr // of the name
	answers   bool         // somebody speaks HTTP there
	calls     string       // where the hub says that others reach it
	limits    wire.Limits
}

// Examine makes all checks that can be made.
func (c Case) Examine(ctx context.Context) checkup.Results {
	x := &exam{Case: c}
	if x.Dial == nil {
		x.Dial = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	}
	if x.Resolve == nil {
		x.Resolve = net.DefaultResolver.LookupNetIP
	}
	for _, part := range []struct {
		name string
		look func(context.Context)
	}{
		{"dns", x.lookUp}, {"connection", x.connect}, {"certificate", x.certificate}, {"redirect", x.redirect},
		{"hub", x.hub}, {"body", x.body}, {"client", x.clientAddress}, {"poll", x.poll},
		{"clock", x.clock}, {"database", x.database}, {"schema", x.schema}, {"backup", x.backup}, {"disk", x.disk},
		{"peers", x.peers},
	} {
		if ctx.Err() != nil {
			break
		}
		x.Tell(part.name)
		part.look(ctx)
	}
	return x.results
}

func (x *exam) fine(check, format string, args ...any) {
	x.results = append(x.results, checkup.Result{Check: check, Status: checkup.OK, Message: fmt.Sprintf(format, args...)})
}

func (x *exam) skip(check, format string, args ...any) {
	x.results = append(x.results, checkup.Result{Check: check, Status: checkup.Skipped, Message: fmt.Sprintf(format, args...)})
}

func (x *exam) found(check, message, why, next string) {
	x.results = append(x.results, checkup.Result{Check: check, Status: checkup.Finding, Message: message, Why: why, Next: next})
}
