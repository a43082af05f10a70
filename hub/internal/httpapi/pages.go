package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/web"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Neighbours tells which hubs this one federates with.
type Neighbours interface {
	// Faces gives what everyone may know of them, in table order.
	Faces() []peers.Face
}

// Pages is the group of the pages for people. They ask the directory what the
// API asks it, and answer a failure with a page of the same status.
type Pages struct {
	Directory *Directory
	Peers     Neighbours

	api *API
}

// maxPage is what one agent takes while its page is made: a card, a readme and
// what escaping makes of them.
const maxPage = 1 << 20

// viewer makes a page. What it holds meanwhile it takes from memory before.
type viewer func(r *http.Request, memory *taking) (web.Page, error)

func (p *Pages) routes(a *API, r chi.Router) {
	p.api = a
	r.Get("/", p.front())
	r.Get("/a/{aid}", p.page(p.agent))
	r.Get("/hub", p.page(p.hub))
	r.Get("/peers", p.page(p.peers))
	r.Get("/llms.txt", a.open(p.guide))
	r.Get("/assets/{name}", a.open(p.asset))
	r.NotFound(p.negotiate(p.page(nowhere), a.open(notFound)))
}

// front is the directory: a page where one is wanted; else the list, as
// /agents gives it, or without a question where everything is.
func (p *Pages) front() http.HandlerFunc {
	return p.negotiate(p.page(p.search), p.api.open(func(w http.ResponseWriter, r *http.Request) error {
		if r.URL.RawQuery != "" {
			return p.Directory.agents(w, r)
		}
		return p.index(w, r)
	}))
}

// negotiate chooses between a page and an answer for programs.
func (p *Pages) negotiate(page, api http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if wantsPage(r) {
			page(w, r)
			return
		}
		api(w, r)
	}
}

// page serves a page, or a page about what failed.
func (p *Pages) page(h viewer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		memory := taking{from: p.api.Budget}
		defer memory.release()
		view, err := h(r, &memory)
		if err == nil {
			err = p.show(w, http.StatusOK, view)
		}
		if err != nil {
			p.fail(w, r, err)
		}
	}
}

func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := p.api.explain(w, r, err)
	if e == nil {
		return
	}
	asked := web.QuestionOf(r.URL.Query())
	if err := p.show(w, wire.StatusOf(e.Kind), web.NewProblem(p.site(r), asked, e, requestID(r.Context()))); err != nil {
		p.api.undelivered(r, err)
	}
}

// show writes a page.
func (p *Pages) show(w http.ResponseWriter, status int, view web.Page) error {
	body, err := view.HTML()
	if err != nil {
		return err
	}
	harden(w.Header())
	w.Header().Set("Cache-Control", "no-cache")
	return writeBody(w, status, "text/html; charset=utf-8", body)
}

// policy lets a page use what this hub serves and nothing else: no script or
// style inside of it, no frame around it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// harden tells browsers what a page must not be made to do.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

func (p *Pages) site(r *http.Request) web.Site { return web.Site{URL: p.Directory.api.homeHub(r)} }

func nowhere(*http.Request, *taking) (web.Page, error) { return nil, errNoRoute() }

func (p *Pages) search(r *http.Request, memory *taking) (web.Page, error) {
	q, err := query(r)
	if err != nil {
		return nil, err
	}
	question, err := ask(q)
	if err != nil {
		return nil, err
	}
	page, err := p.Directory.Rules.List(r.Context(), question, web.PageSize, q.Get("cursor"), memory.take)
	if err != nil {
		return nil, err
	}
	agents, err := agentsIn(page, memory)
	return web.NewSearch(p.site(r), web.QuestionOf(q), agents, page.Next), err
}

// agentsIn reads the views of a page, which are made once and stored as JSON. The
// list has memory for them; what they say is held twice more, read and shown.
func agentsIn(p directory.Page, memory *taking) (list []wire.Agent, err error) {
	if err := memory.take(2 * int64(p.Size())); err != nil {
		return nil, err
	}
	views := p.AppendViews(append(make([]byte, 0, p.Size()+2), '['))
	err = json.Unmarshal(append(views, ']'), &list)
	return list, err
}

func (p *Pages) agent(r *http.Request, memory *taking) (web.Page, error) {
	if err := memory.take(maxPage); err != nil {
		return nil, err
	}
	aid := aidOf(r)
	v, note, err := p.Directory.Rules.Show(r.Context(), aid)
	if err != nil {
		return nil, err
	}
	statement, err := p.statement(r, aid)
	if err != nil {
		return nil, err
	}
	said, err := p.Directory.Reviews.Of(r.Context(), aid, web.ShownReviews, "")
	if err != nil {
		return nil, err
	}
	now := p.api.Now()
	return web.NewAgent(p.site(r), v, note, statement, now).With(said.Reviews, now), nil
}

// statement is the agent's admitted card, nil where there is none.
func (p *Pages) statement(r *http.Request, aid string) (*card.Statement, error) {
	raw, err := p.Directory.Rules.NetworkCard(r.Context(), aid)
	if errs.KindOf(err) == errs.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return card.Read(raw)
}

func (p *Pages) hub(r *http.Request, _ *taking) (web.Page, error) {
	key := p.api.Key.Current()
	if key == nil {
		return nil, errNoIdentity()
	}
	stats, err := p.Directory.Rules.Stats(r.Context())
	if err != nil {
		return nil, err
	}
	return web.NewHub(p.site(r), p.api.self(key), key.Seq(), stats.Agents, len(p.Peers.Faces()), p.api.limits), nil
}

func (p *Pages) peers(r *http.Request, _ *taking) (web.Page, error) {
	var list []web.Peer
	for _, f := range p.Peers.Faces() {
		list = append(list, web.Peer(f))
	}
	return web.NewPeers(p.site(r), list, p.api.Now()), nil
}
