package payment

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/codec"
)

// Headers of x402 over HTTP (section K.7). Their values are base64 JSON.
const (
	HeaderRequired  = "PAYMENT-REQUIRED"
	HeaderSignature = "PAYMENT-SIGNATURE"
	HeaderResponse  = "PAYMENT-RESPONSE"
)

// Names of the extensions of a settlement.
const (
	ExtReceipt     = "anet.settlement.receipt"
	ExtReplayed    = "anet.replayed"
	ExtOriginal    = "anet.original_transaction"
	ExtErrorDetail = "anet.error_detail"
)

// Extensions are further members by name, kept as they were written.
type Extensions map[string]json.RawMessage

// Requirements is one way to pay. It is both an option of a quote and what a
// payee asks the ledger to hold a payment to.
type Requirements struct {
	Scheme            string `json:"scheme"`
	Network           string `json:"network"`
	Amount            string `json:"amount"` // decimal, see ParseAmount
	Asset             string `json:"asset"`
	PayTo             string `json:"payTo"`
	MaxTimeoutSeconds int    `json:"maxTimeoutSeconds"`
}

// NewOption is a way to pay so many credits on a network, to be used within a time.
func NewOption(network, payTo string, amount uint64, within time.Duration) Requirements {
	return Requirements{Scheme: Scheme, Network: network, Amount: FormatAmount(amount), Asset: Asset, PayTo: payTo,
		MaxTimeoutSeconds: int(within / time.Second)}
}

// Resource is what a quote is for.
type Resource struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mimeType,omitempty"`
}

// PaymentRequired is a quote.
type PaymentRequired struct {
	X402Version int            `json:"x402Version"`
	Error       string         `json:"error,omitempty"`
	Resource    *Resource      `json:"resource,omitempty"`
	Accepts     []Requirements `json:"accepts"`
	Extensions  Extensions     `json:"extensions,omitempty"`
}

// PaymentPayload is a payment under way.
type PaymentPayload struct {
	X402Version int          `json:"x402Version"`
	Accepted    Requirements `json:"accepted"`
	Payload     struct {
		Authorization string `json:"authorization"` // base64
	} `json:"payload"`
	Extensions Extensions `json:"extensions,omitempty"`
}

// NewPayload pays one option with a signed authorization.
func NewPayload(accepted Requirements, authorization []byte) PaymentPayload {
	p := PaymentPayload{X402Version: X402Version, Accepted: accepted}
	p.Payload.Authorization = codec.EncodeB64(authorization)
	return p
}

// Authorization is the signed object inside.
func (p PaymentPayload) Authorization() (SignedAuthorization, error) {
	wire, err := codec.DecodeB64(p.Payload.Authorization)
	if err != nil {
		return SignedAuthorization{}, malformed(err, "authorization")
	}
	return ParseAuthorization(wire)
}

// FacilitatorRequest is the body of verify and settle. Its members are
// pointers because a missing one is refused with a reason of its own.
type FacilitatorRequest struct {
	X402Version         int             `json:"x402Version"`
	PaymentPayload      *PaymentPayload `json:"paymentPayload,omitempty"`
	PaymentRequirements *Requirements   `json:"paymentRequirements,omitempty"`

	sent *sentRequest // as it came
}

// sentRequest keeps members that nobody reads here: a peer gets them unchanged (K.5).
type sentRequest struct {
	X402Version         json.RawMessage `json:"x402Version,omitempty"`
	PaymentPayload      json.RawMessage `json:"paymentPayload,omitempty"`
	PaymentRequirements json.RawMessage `json:"paymentRequirements,omitempty"`
}

// ReadFacilitatorRequest reads a body. It is written again as it came, apart from
// members beside the three.
func ReadFacilitatorRequest(body []byte) (r FacilitatorRequest, err error) {
	if err := codec.UnmarshalObject(body, &r); err != nil {
		return r, err
	}
	r.sent = new(sentRequest)
	return r, codec.UnmarshalObject(body, r.sent)
}

// MarshalJSON implements json.Marshaler.
func (r FacilitatorRequest) MarshalJSON() ([]byte, error) {
	if r.sent != nil {
		return json.Marshal(r.sent)
	}
	type bare FacilitatorRequest
	return json.Marshal(bare(r))
}

// SettlementResponse answers settle. Transaction is the id of the
// authorization whenever that could be read.
type SettlementResponse struct {
	Success     bool       `json:"success"`
	ErrorReason string     `json:"errorReason,omitempty"`
	Payer       string     `json:"payer,omitempty"`
	Transaction string     `json:"transaction"`
	Network     string     `json:"network"`
	Amount      string     `json:"amount,omitempty"`
	Extensions  Extensions `json:"extensions,omitempty"`
}

// Receipt is the ledger's receipt inside; ok is false when there is none.
func (s SettlementResponse) Receipt() (r SignedReceipt, ok bool, err error) {
	wire, err := s.ReceiptBytes()
	if wire == nil && err == nil {
		return r, false, nil
	}
	if err == nil {
		r, err = ParseReceipt(wire)
	}
	return r, true, err
}

// ReceiptBytes is the same as it was signed, nil when there is none.
func (s SettlementResponse) ReceiptBytes() ([]byte, error) {
	raw, ok := s.Extensions[ExtReceipt]
	if !ok {
		return nil, nil
	}
	var text string
	if err := codec.UnmarshalJSON(raw, &text); err != nil {
		return nil, malformed(err, "receipt")
	}
	wire, err := codec.DecodeB64(text)
	return wire, malformed(err, "receipt")
}

// VerifyResponse answers verify.
type VerifyResponse struct {
	IsValid       bool   `json:"isValid"`
	InvalidReason string `json:"invalidReason,omitempty"`
	Payer         string `json:"payer,omitempty"`
}

// Kind is one way of paying a facilitator knows.
type Kind struct {
	X402Version int    `json:"x402Version"`
	Scheme      string `json:"scheme"`
	Network     string `json:"network"`
}

// Supported answers what a facilitator takes, its own network first.
type Supported struct {
	Kinds      []Kind              `json:"kinds"`
	Extensions []string            `json:"extensions"`
	Signers    map[string][]string `json:"signers"`
	SignerKEL  map[string]string   `json:"anet.signer_kel"`
}

// ParseRequired reads a quote. It comes from a peer and asks for money, so a
// text two readers could read differently is no quote.
func ParseRequired(data []byte) (q PaymentRequired, err error) {
	if err := codec.UnmarshalJSON(data, &q); err != nil {
		return q, malformed(err, "quote")
	}
	return q, version(q.X402Version)
}

// ParsePayload reads a payment.
func ParsePayload(data []byte) (p PaymentPayload, err error) {
	if err := codec.UnmarshalJSON(data, &p); err != nil {
		return p, malformed(err, "payment")
	}
	return p, version(p.X402Version)
}

// ParseSettlement reads the answer of a ledger.
func ParseSettlement(data []byte) (s SettlementResponse, err error) {
	return s, malformed(codec.UnmarshalJSON(data, &s), "settlement")
}

// ParsePayloadHeader reads a payment from its header: base64 JSON, or JSON as
// some clients write it. A value that is neither is an error and never the
// same as no header.
func ParsePayloadHeader(value string) (PaymentPayload, error) {
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		return ParsePayload([]byte(value))
	}
	data, err := codec.DecodeB64(value)
	if err != nil {
		return PaymentPayload{}, malformed(err, "payment header")
	}
	return ParsePayload(data)
}

// EncodeHeader writes an x402 message as a header value.
func EncodeHeader(v any) (string, error) {
	data, err := json.Marshal(v)
	return codec.EncodeB64(data), err
}

func version(v int) error {
	if v != X402Version {
		return refuse(MalformedPayment, "x402 version %d, this is version %d", v, X402Version)
	}
	return nil
}
