package wire

import (
	"net/http"
	"slices"
	"strings"

	"github.com/anet-hub/anet/shared/errs"
)

// ActionFedKeys is the action of a hub that asks another for an agent's keys.
const ActionFedKeys = "fedkeys"

// ForwardVersion is the version of the envelope between hubs (wire 2, J.2).
const ForwardVersion = 2

// MaxHops is how often a message may be passed on from hub to hub.
const MaxHops = 3

// Forward is the body of POST /fed/v1/forward (wire 2, J.2): a sealed message on
// its way from hub to hub. The payload is the last member, so that whoever writes
// it can write a large one as it goes.
type Forward struct {
	V            uint64   `json:"v"`
	OriginHubAID string   `json:"origin_hub_aid"`
	DestAID      string   `json:"dest_aid"`
	PayloadCID   string   `json:"payload_cid"`
	Hop          uint64   `json:"hop"`
	SeenHubs     []string `json:"seen_hubs"`
	TS           uint64   `json:"ts"`
	KeyStateSeq  uint64   `json:"key_state_seq"`
	Sig          []byte   `json:"sig"`
	Payload      []byte   `json:"payload"`
}

// Forwarded answers it: queued, or a duplicate of what was queued before.
type Forwarded struct {
	Status string `json:"status"`
}

// The statuses of Forwarded.
const (
	ForwardQueued    = "queued"
	ForwardDuplicate = "DUPLICATE"
)

// FedKeys answers GET /fed/v2/keys/{aid} (wire 2, J.3).
type FedKeys struct {
	Keyset []byte `json:"keyset"`
	KEL    []byte `json:"kel"`
}

// FedProblem is the body of every failed request between hubs: one label of
// section J, and a sentence for people.
type FedProblem struct {
	Error  string `json:"error"`
	Detail string `json:"detail"`
}

// The labels of section J.
const (
	LabelPolicyRefused      = "POLICY_REFUSED"
	LabelTooLarge           = "TOO_LARGE"
	LabelMalformed          = "MALFORMED"
	LabelVersionUnsupported = "VERSION_UNSUPPORTED"
	LabelHopExceeded        = "HOP_EXCEEDED"
	LabelInvalidSignature   = "INVALID_SIGNATURE"
	LabelUnknownDestination = "UNKNOWN_DESTINATION"
	LabelMailboxFull        = "MAILBOX_FULL"
	LabelAuthRequired       = "AUTH_REQUIRED"
	LabelReplayed           = "REPLAYED"
	LabelBusy               = "BUSY"
	LabelNotFound           = "NOT_FOUND"
	LabelInternal           = "INTERNAL"
)

// fedAnswers pairs kinds with the statuses of the face between hubs, and with the
// label of a failure that has none of its own. It is the only such table.
var fedAnswers = []struct {
	kind   errs.Kind
	status int
	label  string
}{
	{errs.Internal, http.StatusInternalServerError, LabelInternal},
	{errs.Invalid, http.StatusBadRequest, LabelMalformed},
	{errs.Unauthorized, http.StatusUnauthorized, LabelInvalidSignature},
	{errs.Forbidden, http.StatusForbidden, LabelPolicyRefused},
	{errs.NotFound, http.StatusNotFound, LabelNotFound},
	{errs.TooLarge, http.StatusRequestEntityTooLarge, LabelTooLarge},
	{errs.BadGateway, http.StatusBadGateway, LabelPolicyRefused},
	{errs.Unavailable, http.StatusServiceUnavailable, LabelBusy},
	{errs.TooMany, http.StatusTooManyRequests, LabelBusy},
	{errs.Full, http.StatusInsufficientStorage, LabelMailboxFull},
}

// fedLabels are those that stand in no table of kinds.
var fedLabels = []string{LabelVersionUnsupported, LabelHopExceeded, LabelUnknownDestination, LabelAuthRequired, LabelReplayed}

// FedAnswer is the status of a failure on the face between hubs, and its label:
// its reason where that is one, else what its kind is called there.
func FedAnswer(e *errs.Error) (status int, label string) {
	for _, a := range fedAnswers {
		if a.kind != e.Kind {
			continue
		}
		if label := strings.ToUpper(e.Reason); slices.Contains(fedLabels, label) {
			return a.status, label
		}
		return a.status, a.label
	}
	return http.StatusInternalServerError, LabelInternal
}
