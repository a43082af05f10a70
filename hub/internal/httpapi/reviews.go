package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// reviewRoutes are what agents say of each other (wire 2, I.7 and I.8).
func (d *Directory) reviewRoutes(a *API, r chi.Router) {
	r.Post("/reviews", a.open(d.review))
	r.Get("/agents/{aid}", a.open(d.agent))
	r.Get("/agents/{aid}/reputation", a.open(byPath(d.reputation)))
	r.Post("/agents/reputation:lookup", a.open(d.byBody(d.reputation)))
	r.Get("/graph", a.open(d.graph))
	r.Get("/stats", a.open(d.stats))
}

// review serves POST /reviews. Nobody signs the request, so the address pays
// before its body is read; the objects in it are signed.
func (d *Directory) review(w http.ResponseWriter, r *http.Request) error {
	if err := d.Reviewers.Take(d.api.clientBucket(r)); err != nil {
		return err
	}
	body, release, err := d.api.readBody(w, r, maxOpenBody)
	if err != nil {
		return err
	}
	defer release()
	in, err := submission(body)
	if err != nil {
		return err
	}
	accepted, err := d.Reviews.Accept(r.Context(), in.Receipt, in.Review)
	if err != nil {
		return err
	}
	v := accepted.View()
	return writeJSON(w, http.StatusOK, wire.ReviewAccepted{
		InteractionID: v.InteractionID, Status: "accepted", ContentBinding: v.ContentBinding})
}

// submission decodes the body. The hub takes no content of the work: it could
// not tell whose business it is.
func submission(body []byte) (in wire.SubmitReview, err error) {
	err = decode(body, &in)
	switch {
	case err != nil:
		return in, err
	case len(in.RequestDoc) > 0:
		return in, errContent("request_doc")
	case len(in.Deliverable) > 0:
		return in, errContent("deliverable")
	case len(in.Receipt) == 0:
		return in, errs.New(errs.Invalid, "receipt_missing", "receipt is missing").In("receipt")
	case len(in.Review) == 0:
		return in, errs.New(errs.Invalid, "review_missing", "review is missing").In("review")
	}
	return in, nil
}

func errContent(field string) error {
	return errs.New(errs.Invalid, "review_content", "this hub takes no content of the work: leave %s out", field).In(field)
}

// agent serves GET /agents/{aid}.
func (d *Directory) agent(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	limit, err := limitOf(q, reviews.DefaultPage, reviews.MaxPage)
	if err != nil {
		return err
	}
	aid := aidOf(r)
	v, note, err := d.Rules.Show(r.Context(), aid)
	if err != nil {
		return err
	}
	release, err := d.api.Budget.Take(reviews.Bytes * min(int64(limit), v.ReviewCount))
	if err != nil {
		return err
	}
	defer release()
	page, err := d.Reviews.Of(r.Context(), aid, limit, q.Get("cursor"))
	if err != nil {
		return err
	}
	out := wire.AgentPage{Agent: v, Reviews: make([]wire.RawJSON, len(page.Reviews)), Note: note, NextCursor: page.Next}
	for i, said := range page.Reviews {
		if out.Reviews[i], err = encode(said); err != nil {
			return err
		}
	}
	return writeJSON(w, http.StatusOK, out)
}

// noteReputation says what the figures are worth.
const noteReputation = "reviews are signed by the requester of a receipt that the provider signed; " +
	"whether it is about what was really asked and delivered only these two can check, and both may be one person"

func (d *Directory) reputation(w http.ResponseWriter, r *http.Request, aid string) error {
	if err := directory.CheckAID(aid); err != nil {
		return err
	}
	out, err := d.Reviews.Reputation(r.Context(), aid)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.ReputationPage{Reputation: out, Note: noteReputation})
}

// stats serves GET /stats. Every review is about a receipt of its own.
func (d *Directory) stats(w http.ResponseWriter, r *http.Request) error {
	s, err := d.Rules.Stats(r.Context())
	if err != nil {
		return err
	}
	all, err := d.Reviews.Total(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Stats{Agents: s.Agents, FederatedAgents: s.Federated, TasksCompleted: all.Count,
		Reviews: all.Count, AvgRating: all.Mean(), Modules: []string{}})
}
