package stage

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/anet-hub/anet/shared/payment"
)

// Exchange is one question to a hub about a payment and the answer, with whatever is
// different each time named by a word instead: $HUB, $AUTHORIZATION.
type Exchange struct {
	Request   string `json:"request"`
	Signature any    `json:"PAYMENT-SIGNATURE,omitempty"`
	Body      any    `json:"body,omitempty"`

	Status   int    `json:"status"`
	Cache    string `json:"Cache-Control,omitempty"`
	Required any    `json:"PAYMENT-REQUIRED,omitempty"`
	Response any    `json:"PAYMENT-RESPONSE,omitempty"`
	Answer   any    `json:"answer"`
}

// Names are the words for what only this run knows.
type Names map[string]string

// changing are the members that are different each time, and the words for them.
var changing = map[string]string{
	"authorization": "$AUTHORIZATION", "transaction": "$TRANSACTION", "voucher": "$VOUCHER",
	payment.ExtReceipt: "$RECEIPT", "expires_at": "$TIME", "lastUpdated": "$TIME", "request_id": "$REQUEST",
}

var localhost = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// Mask puts words for what is different each time.
func (n Names) Mask(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, member := range v {
			if word, ok := changing[k]; ok && member != "" {
				out[n.text(k)] = word
			} else {
				out[n.text(k)] = n.Mask(member)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, one := range v {
			out = append(out, n.Mask(one))
		}
		return out
	case string:
		return n.text(v)
	}
	return v
}

func (n Names) text(s string) string {
	for word, value := range n {
		s = strings.ReplaceAll(s, value, word)
	}
	return localhost.ReplaceAllString(s, "$$HOST")
}

// Fill is the way back.
func (n Names) Fill(s string) string {
	for word, value := range n {
		s = strings.ReplaceAll(s, word, value)
	}
	return s
}

// Recorder stands before a hub and writes down what is asked and answered.
type Recorder struct {
	Hub   *Hub
	names Names

	mu  sync.Mutex
	all []Exchange
}

// Record starts one.
func Record(t testing.TB, hub *Hub, names Names) *Recorder {
	t.Helper()
	to, err := url.Parse(hub.URL)
	Must(t, err)
	r := &Recorder{names: names}
	forward := &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(to) },
		ModifyResponse: r.note,
	}
	server := httptest.NewServer(forward)
	t.Cleanup(server.Close)
	r.Hub = &Hub{URL: server.URL, AID: hub.AID}
	server.Config.Handler = r.remember(forward)
	return r
}

// remember keeps the body of a request for who notes the answer.
func (r *Recorder) remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		q.Body, q.GetBody = io.NopCloser(bytes.NewReader(body)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		next.ServeHTTP(w, q)
	})
}

func (r *Recorder) note(a *http.Response) error {
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	a.Body = io.NopCloser(bytes.NewReader(answer))
	q, asked := a.Request, []byte(nil)
	if q.GetBody != nil {
		body, _ := q.GetBody() // it is in memory
		asked, _ = io.ReadAll(body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, r.names.exchange(q, asked, Answer{a.StatusCode, a.Header, answer}))
	return nil
}

func (n Names) exchange(q *http.Request, asked []byte, a Answer) Exchange {
	return Exchange{
		Request: n.text(q.Method + " " + q.URL.RequestURI()), Signature: n.header(q.Header, payment.HeaderSignature), Body: n.json(asked),
		Status: a.Status, Cache: a.Header.Get("Cache-Control"), Required: n.header(a.Header, payment.HeaderRequired),
		Response: n.header(a.Header, payment.HeaderResponse), Answer: n.json(a.Body),
	}
}

func (n Names) header(h http.Header, name string) any {
	raw, err := base64.StdEncoding.DecodeString(h.Get(name))
	if err != nil {
		return "no base64: " + h.Get(name)
	}
	return n.json(raw)
}

func (n Names) json(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return "no JSON: " + string(raw)
	}
	return n.Mask(v)
}

// Transcript is what was recorded, as it is kept in a file.
func (r *Recorder) Transcript(t testing.TB) []byte {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	return Transcript(t, r.all)
}

// Transcript writes exchanges as they are kept in a file.
func Transcript(t testing.TB, all []Exchange) []byte {
	t.Helper()
	text, err := json.MarshalIndent(all, "", "  ")
	Must(t, err)
	return append(text, '\n')
}

// Replay asks a hub once more what was recorded, with what only this run knows.
func (n Names) Replay(t testing.TB, hub *Hub, transcript []byte) []Exchange {
	t.Helper()
	var recorded, again []Exchange
	Must(t, json.Unmarshal(transcript, &recorded))
	for _, e := range recorded {
		method, target, _ := strings.Cut(n.Fill(e.Request), " ")
		var body []byte
		if e.Body != nil {
			body = n.filled(t, e.Body)
		}
		q, err := http.NewRequest(method, hub.URL+target, bytes.NewReader(body))
		Must(t, err)
		if e.Signature != nil {
			q.Header.Set(payment.HeaderSignature, base64.StdEncoding.EncodeToString(n.filled(t, e.Signature)))
		}
		if body != nil {
			q.Header.Set("Content-Type", "application/json")
		}
		a, err := Send(http.DefaultClient, q)
		Must(t, err)
		again = append(again, n.exchange(q, body, a))
	}
	return again
}

func (n Names) filled(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	Must(t, err)
	return []byte(n.Fill(string(raw)))
}
