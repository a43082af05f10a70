package wire

// SubmitReview is the body of POST /reviews (wire 2, I.7): two signed objects,
// and nothing of the work they are about. RequestDoc and Deliverable are there
// to be refused.
type SubmitReview struct {
	Receipt     []byte  `json:"receipt"`
	Review      []byte  `json:"review"`
	RequestDoc  RawJSON `json:"request_doc,omitzero"`
	Deliverable RawJSON `json:"deliverable,omitzero"`
}

// ReviewAccepted answers it.
type ReviewAccepted struct {
	InteractionID  string `json:"interaction_id"`
	Status         string `json:"status"`
	ContentBinding string `json:"content_binding"`
}

// Review is the ReviewView of I.7; times are in milliseconds since 1970, as they
// were signed.
type Review struct {
	InteractionID  string `json:"interaction_id"`
	SubjectAID     string `json:"subject_aid"`
	ReviewerAID    string `json:"reviewer_aid"`
	Rating         int    `json:"rating"`
	Comment        string `json:"comment"`
	ReceiptCID     string `json:"receipt_cid"`
	RequestCID     string `json:"request_cid"`
	ResultCID      string `json:"result_cid"`
	CompletedAt    uint64 `json:"completed_at"`
	CreatedAt      uint64 `json:"created_at"`
	ContentBinding string `json:"content_binding"`
}

// ReputationPage answers GET /agents/{aid}/reputation.
type ReputationPage struct {
	Reputation Reputation `json:"reputation"`
	Note       string     `json:"note"`
}

// Reputation is what reviews say of an agent, by the hubs that took them in.
// Concentration is the largest part of them that comes from one hub.
type Reputation struct {
	AID           string         `json:"aid"`
	Local         ReviewSource   `json:"local"`
	Peers         []ReviewSource `json:"peers"`
	Combined      ReviewSource   `json:"combined"`
	Concentration float64        `json:"concentration"`
}

// ReviewSource is a number of reviews and their average, to two decimals.
type ReviewSource struct {
	Hub       string  `json:"hub,omitempty"`
	Reviews   int64   `json:"reviews"`
	AvgRating float64 `json:"avg_rating"`
}

// Edge is one review in GET /graph.
type Edge struct {
	Source string `json:"source"`
	Target string `json:"target"`
	Rating int    `json:"rating"`
}
