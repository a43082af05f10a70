package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// agents serves GET /agents.
func (d *Directory) agents(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	question, err := ask(q)
	if err != nil {
		return err
	}
	return d.page(w, r, q, question)
}

// ask reads the question. ?cap= that is present is the question, even when it
// is empty: it never turns into a text search.
func ask(q url.Values) (directory.Question, error) {
	if q.Has("cap") {
		return directory.AskCap(q.Get("cap"))
	}
	return directory.AskText(q.Get("q"))
}

// page answers a question with one page. Memory is taken from the budget of the
// process before the answer is read from the database.
func (d *Directory) page(w http.ResponseWriter, r *http.Request, q url.Values, question directory.Question) error {
	limit, err := limitOf(q, directory.MaxPage, directory.MaxPage)
	if err != nil {
		return err
	}
	memory := taking{from: d.api.Budget}
	defer memory.release()
	page, err := d.Rules.List(r.Context(), question, limit, q.Get("cursor"), memory.take)
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, "application/json", joinPage("agents", page, ""))
}

// taking is memory that is taken in steps and given back at once.
type taking struct {
	from     Budget
	releases []func()
}

func (t *taking) take(n int64) error {
	release, err := t.from.Take(n)
	if err == nil {
		t.releases = append(t.releases, release)
	}
	return err
}

func (t *taking) release() {
	for _, f := range t.releases {
		f()
	}
}

// limitOf reads ?limit=; one that is present but empty is no number.
func limitOf(q url.Values, unset, most int) (int, error) {
	if !q.Has("limit") {
		return unset, nil
	}
	return directory.ParseLimit(q.Get("limit"), most)
}

// joinPage writes a page around views that are JSON already; more is added as
// it is.
func joinPage(name string, p directory.Page, more string) []byte {
	tail, _ := json.Marshal(struct { // a number and plain text cannot fail
		Limit int    `json:"limit"`
		Next  string `json:"next_cursor,omitempty"`
	}{p.Limit, p.Next})
	tail[0] = ','
	tail = append(tail, '\n') // as every other answer, for who reads it in a terminal
	head := `{"` + name + `":[`
	out := make([]byte, 0, len(head)+p.Size()+1+len(more)+len(tail))
	out = p.AppendViews(append(out, head...))
	return append(append(append(out, ']'), more...), tail...)
}

// joinEntries writes n entries between head and tail; they have size bytes at most,
// with the commas between them. Encoded at once they would be in memory twice.
func joinEntries(head string, size, n int, entry func(i int) any, tail string) ([]byte, error) {
	out := append(make([]byte, 0, len(head)+size+len(tail)), head...)
	for i := range n {
		one, err := encode(entry(i))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, bytes.TrimSuffix(one, newline)...)
	}
	return append(out, tail...), nil
}

// profile serves POST /profile.
func (d *Directory) profile(w http.ResponseWriter, r *http.Request, c *Caller) error {
	var in wire.Profile
	if err := decode(c.Body, &in); err != nil {
		return err
	}
	if in.AID != "" && in.AID != c.AID {
		return errs.New(errs.Unauthorized, "not_the_owner", "the signer is not the agent named").In("aid")
	}
	p := directory.Profile{Summary: in.Summary, Readme: in.Readme, Pricing: in.Pricing}
	if err := d.Rules.SetProfile(r.Context(), c.Proof, p); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Done{AID: c.AID, Status: "profile_updated"})
}

// ifRegistered answers 404 for an unknown agent before any signature is looked
// at, as wire 2, I.2, has it for this one route.
func (d *Directory) ifRegistered(next http.HandlerFunc) http.HandlerFunc {
	return d.api.open(func(w http.ResponseWriter, r *http.Request) error {
		if err := d.Rules.Registered(r.Context(), aidOf(r)); err != nil {
			return err
		}
		next(w, r)
		return nil
	})
}

// visibility serves POST /agents/{aid}/visibility.
func (d *Directory) visibility(w http.ResponseWriter, r *http.Request, c *Caller) error {
	var in wire.Visibility
	if err := decode(c.Body, &in); err != nil {
		return err
	}
	v, err := directory.ParseVisibility(in.Visibility)
	if err != nil {
		return err
	}
	if err := d.Rules.SetVisibility(r.Context(), c.Proof, v); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.VisibilitySet{AID: c.AID, Visibility: string(v)})
}

// deregister serves POST /agents/{aid}/deregister.
func (d *Directory) deregister(w http.ResponseWriter, r *http.Request, c *Caller) error {
	n, err := d.Rules.Deregister(r.Context(), c.Proof)
	if err != nil {
		return err
	}
	out := wire.Deregistered{AID: c.AID, Status: "deregistered", Undelivered: n}
	if n > 0 {
		out.Warning = "messages that had not been fetched were deleted with the mailbox"
	}
	return writeJSON(w, http.StatusOK, out)
}

// why serves GET /agents/{aid}/why.
func (d *Directory) why(w http.ResponseWriter, r *http.Request, c *Caller) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	v, err := d.Rules.AskWhy(r.Context(), c.Proof, q.Get("cap"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, v)
}

// putAddress serves POST /agents/{aid}/p2p.
func (d *Directory) putAddress(w http.ResponseWriter, r *http.Request, c *Caller) error {
	var in wire.P2P
	if err := decode(c.Body, &in); err != nil {
		return err
	}
	a, err := d.Rules.SetAddress(r.Context(), c.Proof, in.Addr)
	if err != nil {
		return err
	}
	status := "published"
	if a.Addr == "" {
		status = "withdrawn"
	}
	return writeJSON(w, http.StatusOK, wire.P2PStored{AID: a.AID, Status: status, Addr: a.Addr})
}

// address serves GET /agents/{aid}/p2p.
func (d *Directory) address(w http.ResponseWriter, r *http.Request) error {
	a, err := d.Rules.Address(r.Context(), aidOf(r))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, toAddress(a))
}

// addresses serves GET /p2p/peers, where the operator turned it on.
func (d *Directory) addresses(w http.ResponseWriter, r *http.Request) error {
	memory := taking{from: d.api.Budget}
	defer memory.release()
	all, err := d.Rules.Addresses(r.Context(), memory.take)
	if err != nil {
		return err
	}
	body, err := addressesBody(all)
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, "application/json", body)
}

// addressesBody makes room for the longest way of writing them: a byte can take six.
func addressesBody(all []directory.Address) ([]byte, error) {
	size := 0
	for _, a := range all {
		size += len(a.AID) + 6*len(a.Addr) + len(`{"aid":"","addr":"","at":"2006-01-02T15:04:05.123456Z"},`)
	}
	return joinEntries(`{"peers":[`, size, len(all), func(i int) any { return toAddress(all[i]) }, fmt.Sprintf("],\"count\":%d}\n", len(all)))
}

func toAddress(a directory.Address) wire.P2PAddress {
	return wire.P2PAddress{AID: a.AID, Addr: a.Addr, At: a.At.UTC()}
}
