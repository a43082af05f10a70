package cli

import (
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/wire"
)

// next is what to do after a refusal that somebody here can change.
var next = map[string]string{
	wire.InviteRequired: withInvite,
	wire.InviteUnknown:  "see that the file holds the whole of it and nothing else, then: " + withInvite,
	wire.InviteRevoked:  withInvite,
	wire.InviteExpired:  withInvite,
	wire.InviteUsedUp:   withInvite,

	hubclient.Untrusted: "if the hub has an authority of its own, add its root to this machine's (on Debian: update-ca-certificates), " +
		"or set SSL_CERT_FILE to the file with it, for the node too",
	hubclient.WrongName: "join the hub under the name that its operator gave; an address or another name of the machine is not in its certificate",
	hubclient.OutOfDate: "see that this machine's clock is right (timedatectl); if it is, the hub's operator has to renew the certificate",
}

const withInvite = "anet join URL --token-file FILE (or set " + inviteVariable + ")"
