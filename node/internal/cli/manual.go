package cli

import "github.com/anet-hub/anet/shared/cmdline"

// exits are the codes of all commands, for the help of the program.
var exits = []cmdline.Meaning{
	means(exitDone, "the command did its work, the effect happened"),
	means(exitError, "error"),
	means(exitUse, "wrong use"),
	means(exitDifference, "status: the hub lists something else; doctor: a finding"),
	means(exitRefused, "refused or unavailable: by the provider, by the hub, or no node runs here"),
	means(exitFailed, "the call failed: it did not happen"),
	means(exitUnverified, "unverified: it may have happened; card: not proven"),
	means(exitPayment, "to be paid"),
	means(exitWaiting, "still waiting when --wait ended"),
}

// ends are the codes of a task that was waited for.
var ends = []cmdline.Meaning{
	means(exitDone, "with --wait: the effect happened, the text was answered"),
	means(exitRefused, "refused, unavailable or withdrawn"),
	means(exitFailed, "it did not happen"),
	means(exitUnverified, "it may have happened; check before asking again"),
	means(exitPayment, "to be paid"),
	means(exitWaiting, "still waiting when --wait ended"),
}
