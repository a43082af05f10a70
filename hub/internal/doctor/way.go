package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

const (
	upload    = 5 * time.Minute // of the largest body
	waiting   = wire.MaxWait + 15*time.Second
	maxAnswer = 1 << 20
	forged    = "203.0.113.77" // of no machine: an address for examples (RFC 5737)
)

// answer is what came back, and whether from the hub itself.
type answer struct {
	status int
	ours   bool
	body   []byte
	took   time.Duration
}

func (a answer) String() string {
	text := strings.Join(strings.Fields(string(a.body)), " ")
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	return fmt.Sprintf("%d %q after %s", a.status, text, a.took.Round(100*time.Millisecond))
}

func (x *exam) at(target string) string { return strings.TrimSuffix(x.URL.String(), "/") + target }

// ask sends a request and reads the answer.
func (x *exam) ask(r *http.Request) (answer, error) {
	start := x.Now()
	resp, err := x.client.Do(r)
	if err != nil {
		return answer{took: x.Now().Sub(start)}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return answer{resp.StatusCode, resp.Header.Get(wire.HeaderRequest) != "", body, x.Now().Sub(start)}, err
}

func (x *exam) read(ctx context.Context, target string, v any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, quick)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.at(target), nil)
	if err != nil {
		return answer{}, err
	}
	got, err := x.ask(r)
	if err == nil && got.status == http.StatusOK {
		err = json.Unmarshal(got.body, v)
	}
	return got, err
}

// hub asks who is there, and whether it can serve.
func (x *exam) hub(ctx context.Context) {
	const check = "hub"
	if !x.answers {
		x.skip(check, "nobody answers")
		return
	}
	var id wire.Identity
	got, err := x.read(ctx, "/hub/identity", &id)
	if err != nil || got.status != http.StatusOK || id.AID == "" {
		x.answers = false
		x.found(check, fmt.Sprintf("no hub answers there: %s %s", got, quiet(err)), "nodes cannot join", "start the hub, and let the proxy lead to it with the path as it came")
		return
	}
	x.calls = id.PublicURL
	switch key := x.Inside.Key; {
	case key != nil && key.AID() != id.AID:
		x.answers = false
		x.found(check, "another hub answers there: "+id.AID, "nodes that joined this one ("+key.AID()+") refuse it", "let the name or the proxy lead to this hub, or name the database of that one")
		return
	case id.PublicURL != "" && strings.TrimSuffix(id.PublicURL, "/") != strings.TrimSuffix(x.URL.String(), "/") && !x.local():
		x.found(check, "the hub calls itself "+id.PublicURL, "cards of its agents name that address", "start it with --public-url "+x.URL.String()+", unless it is reached at both")
	default:
		x.fine(check, "%s", id.AID)
	}
	var ready struct{}
	if got, err := x.read(ctx, "/readyz", &ready); err != nil || got.status != http.StatusOK {
		x.found(check, fmt.Sprintf("it is not ready: %s", got), "its requests fail", "see its log, and what is found below")
	}
	_, _ = x.read(ctx, "/limits", &x.limits) // without them the usual body is tried
}

// probe asks with the hub's own key what arrives of a request.
func (x *exam) probe(ctx context.Context, target string, body []byte, change func(*http.Request)) (p wire.Probed, got answer, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.at(target), bytes.NewReader(body))
	if err != nil {
		return p, got, err
	}
	key := x.Inside.Key
	relayauth.Sign(key, wire.ActionProbe, key.AID(), r, body, uint64(x.Now().UnixMilli()))
	if change != nil {
		change(r)
	}
	if got, err = x.ask(r); err == nil && got.status == http.StatusOK {
		err = json.Unmarshal(got.body, &p)
	}
	return p, got, err
}

// probes reports whether it can be asked, and says why not.
func (x *exam) probes(check string) bool {
	switch {
	case !x.answers:
		x.skip(check, "this hub does not answer there")
	case x.Inside.Key == nil:
		x.skip(check, "it takes the hub's key, from its database: %v", x.Inside.Err)
	}
	return x.answers && x.Inside.Key != nil
}

// body sends the largest one that any route takes. Without the hub's key it goes
// to a route that refuses it unread: what stands before the hub has to let it
// through all the same.
func (x *exam) body(ctx context.Context) {
	const check = "body"
	if !x.answers {
		x.skip(check, "this hub does not answer there")
		return
	}
	size := x.limits.Bodies.Send
	if size == 0 {
		size = 129 << 20
	}
	ctx, cancel := context.WithTimeout(ctx, upload)
	defer cancel()
	body := bytes.Repeat([]byte(" "), int(size))
	var got answer
	var err error
	arrived := false
	if x.Inside.Key != nil {
		var p wire.Probed
		p, got, err = x.probe(ctx, "/hub/probe", body, nil)
		arrived = p.Bytes == size
	} else {
		got, err = x.unsigned(ctx, body)
		arrived = got.ours && got.status == http.StatusUnauthorized
	}
	large := humanize.IBytes(uint64(size))
	switch {
	case arrived:
		x.fine(check, "a body of %s passes", large)
	case got.ours && got.status == http.StatusServiceUnavailable:
		x.skip(check, "the hub is busy: %s", got)
	case got.ours:
		x.found(check, fmt.Sprintf("the hub refuses its own operator: %s", got), "how requests arrive cannot be told", "check the clock of this machine, and whether a proxy changes the target of requests")
	default:
		x.found(check, fmt.Sprintf("a body of %s does not pass: %s %s", large, got, quiet(err)), "large messages fail, with a page that no node understands",
			"let what stands before the hub take bodies of 130 MiB (nginx: client_max_body_size 130m); see deploy/ for examples")
	}
}

func (x *exam) unsigned(ctx context.Context, body []byte) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.at("/relay/send"), bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set(wire.HeaderVersion, fmt.Sprint(wire.Version))
	return x.ask(r)
}

func quiet(err error) string {
	if err == nil {
		return ""
	}
	return "(" + err.Error() + ")"
}

// clientAddress forges all that a client can, and compares.
func (x *exam) clientAddress(ctx context.Context) {
	const check = "client"
	if x.local() && !x.secure() {
		x.skip(check, "nothing stands before the hub on this way")
		return
	}
	if !x.probes(check) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*quick)
	defer cancel()
	honest, got, err := x.probe(ctx, "/hub/probe", nil, nil)
	if err != nil || got.status != http.StatusOK {
		x.skip(check, "the hub does not say: %s %s", got, quiet(err))
		return
	}
	lied, _, err := x.probe(ctx, "/hub/probe", nil, func(r *http.Request) {
		r.Header.Set("X-Real-IP", forged)
		r.Header.Set("X-Forwarded-For", forged)
		r.Header.Set("Forwarded", "for="+forged)
	})
	switch {
	case err == nil && lied.Client == forged:
		x.found(check, "a client's own "+honest.ProxyHeader+" is believed", "whoever writes another address there each time is under no rate", "let the proxy set "+honest.ProxyHeader+" itself, or name the header it does set with --proxy-header")
	case honest.Client == honest.Peer && honest.PeerTrusted && !x.local() && !x.atHome(honest.Client):
		x.found(check, "the hub sees every client as "+honest.Peer, "all of them share one rate, and one of them can use it up", "let the proxy at that address set "+honest.ProxyHeader+", or name the header it sets with --proxy-header")
	case honest.Client == honest.Peer && !honest.PeerTrusted && !x.atHome(honest.Client) && x.private():
		x.fine(check, "the hub sees this machine as %s; if that is a proxy, name it with --trusted-proxy", honest.Client)
	default:
		x.fine(check, "the hub sees this machine as %s, and takes no word of a client for it", honest.Client)
	}
}

// atHome reports whether the hub saw this machine itself: asked from where the
// proxy runs, a client is the proxy's neighbour.
func (x *exam) atHome(client string) bool {
	return strings.HasPrefix(client, "127.") || client == "::/64"
}

// poll waits as long as the longest poll, if there is time for that.
func (x *exam) poll(ctx context.Context) {
	const check = "poll"
	if !x.Slow {
		x.skip(check, "waiting as long as a poll takes a minute: --slow")
		return
	}
	if !x.probes(check) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	_, got, err := x.probe(ctx, "/hub/probe?wait", nil, nil)
	if err == nil && got.status == http.StatusOK && got.took < wire.MaxWait-time.Second {
		x.skip(check, "the hub stopped meanwhile, after %s", got.took.Round(time.Second))
		return
	}
	if err == nil && got.status == http.StatusOK {
		x.fine(check, "an answer may take %s", got.took.Round(time.Second))
		return
	}
	x.found(check, fmt.Sprintf("an answer that takes %s does not come: %s %s", wire.MaxWait, got, quiet(err)), "nodes wait for mail that way, and are cut off again and again",
		"let what stands before the hub wait for 75 s (nginx: proxy_read_timeout 75s; balancers: idle time-out)")
}
