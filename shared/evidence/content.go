package evidence

import "github.com/anet-hub/anet/shared/codec"

// MatchContent checks a receipt against the request document and the
// deliverable themselves. A hub never holds them; the two parties do.
func (r Receipt) MatchContent(request, deliverable []byte) error {
	switch {
	case codec.CID(request) != r.RequestCID:
		return refuse("receipt_other_request", "the receipt is for another request")
	case codec.CID(deliverable) != r.ResultCID:
		return refuse("receipt_other_result", "the receipt is for another result")
	}
	return nil
}
