package httpapi

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// sendOverhead is what a send's body may hold beside the envelope (wire 2, I.4).
const sendOverhead = 64 << 10

// Mail serves the mailboxes.
type Mail struct {
	Relay *relay.Relay
}

// maxBody bounds the body of a send.
func (m *Mail) maxBody() int64 { return bodyOf(m.Relay.Limits.Envelope) }

// bodyOf bounds a body that holds an envelope of that size in base64.
func bodyOf(envelope int64) int64 {
	return int64(base64.StdEncoding.EncodedLen(int(envelope))) + sendOverhead
}

func (m *Mail) routes(a *API, r chi.Router) {
	send := signedRoute{
		action:  wire.ActionSend,
		maxBody: m.maxBody(),
		before:  func(_ *http.Request, aid string) error { return m.Relay.MaySend(aid) },
	}
	r.Post("/relay/send", a.signed(send, m.send(a)))
	r.Post("/relay/poll", a.signed(signedRoute{action: wire.ActionPoll}, m.poll(a)))
	r.Post("/relay/ack", a.signed(signedRoute{action: wire.ActionAck}, m.ack))
}

type signedHandler = func(http.ResponseWriter, *http.Request, *Caller) error

func (m *Mail) send(a *API) signedHandler {
	return func(w http.ResponseWriter, r *http.Request, c *Caller) error {
		beginAnswer(w)
		release := func() {}
		defer func() { release() }()
		sent, err := m.Relay.Send(r.Context(), c.Proof, func() (to string, env []byte, err error) {
			to, env, release, err = a.unpack(c)
			giveTime(w, idle+forward.Patience(len(env)))
			return to, env, err
		})
		if err != nil {
			return err
		}
		showQuota(w, m.Relay.Senders.Quota(c.AID))
		return writeJSON(w, http.StatusOK, toSent(sent))
	}
}

func toSent(s relay.Sent) wire.Sent {
	switch {
	case s.Via != "":
		return wire.Sent{Status: "forwarded", ViaHub: s.Via}
	case s.Quiet:
		return wire.Sent{ID: s.ID, Status: "queued", RecipientQuiet: true,
			Warning: "the recipient has not collected its mail for an hour or more"}
	}
	return wire.Sent{ID: s.ID, Status: "queued"}
}

// unpack reads the body of a send. release gives back what the envelope takes:
// itself out of its base64, and its copy on the way to the database.
func (a *API) unpack(c *Caller) (to string, env []byte, release func(), err error) {
	if release, err = a.Budget.Take(int64(len(c.Body)) * 3 / 2); err != nil {
		return "", nil, func() {}, err
	}
	var body wire.Send
	err = decode(c.Body, &body)
	c.drop() // the message may wait for another hub
	return body.ToAID, body.Envelope, release, err
}

// pollBody is wire.Poll with the wait as it was written: a number that is too
// long for an int64 is a long wait and no mistake.
type pollBody struct {
	Limit   int          `json:"limit"`
	AfterID int64        `json:"after_id"`
	WaitMS  wire.RawJSON `json:"wait_ms"`
}

func (m *Mail) poll(a *API) signedHandler {
	return func(w http.ResponseWriter, r *http.Request, c *Caller) error {
		q, wait, err := pollQuery(c.Body)
		if err != nil {
			return err
		}
		release := func() {}
		defer func() { release() }()
		messages, err := m.Relay.Poll(r.Context(), c.Proof, q, func(n int64) (err error) {
			free, err := a.Budget.Take(n)
			if err == nil {
				release = free
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := writePage(w, messages, wait); err != nil {
			a.Log.Debug("answer not delivered", "request_id", requestID(r.Context()))
		}
		return nil
	}
}

// pollQuery reads a poll, whose body may be empty. wait is what the answer
// echoes, nil where nothing was asked.
func pollQuery(raw []byte) (q relay.Query, wait *int64, err error) {
	var body pollBody
	if len(raw) > 0 {
		if err := decode(raw, &body); err != nil {
			return q, nil, err
		}
	}
	q = relay.Query{After: body.AfterID, Limit: body.Limit}
	if s := string(body.WaitMS); s != "" && s != "null" {
		ms, err := waitMS(s)
		if err != nil {
			return q, nil, err
		}
		q.Wait, wait = time.Duration(ms)*time.Millisecond, &ms
	}
	return q, wait, nil
}

// waitMS reads a whole number of milliseconds, cut at the longest wait granted.
func waitMS(s string) (int64, error) {
	n, err := strconv.ParseFloat(s, 64)
	tooLong := errors.Is(err, strconv.ErrRange) && n > 0
	if !tooLong && (err != nil || n < 0 || n != math.Trunc(n)) {
		return 0, errs.New(errs.Invalid, "bad_wait_ms", "wait_ms must be a whole number of milliseconds, 0 or more").In("wait_ms")
	}
	return int64(min(n, float64(wire.MaxWait.Milliseconds()))), nil
}

// writePage writes wire.Polled as it goes: the whole answer in base64 would be
// as large as all its envelopes once more. A reader that is too slow is cut
// off, since it holds memory that others wait for.
func writePage(w http.ResponseWriter, messages []relay.Message, wait *int64) error {
	var size int64
	for _, m := range messages {
		size += m.Size
	}
	limitAnswer(w, size)
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, 32<<10)
	_, _ = out.WriteString(`{"messages":[`)
	for i, m := range messages {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		writeMessage(out, m)
	}
	_ = out.WriteByte(']')
	if wait != nil {
		_, _ = fmt.Fprintf(out, `,"wait_ms":%d`, *wait)
	}
	_, _ = out.WriteString("}\n")
	return out.Flush() // which tells of any earlier failure
}

func writeMessage(out *bufio.Writer, m relay.Message) {
	_, _ = fmt.Fprintf(out, `{"id":%d,"envelope":"`, m.ID)
	enc := base64.NewEncoder(base64.StdEncoding, out)
	_, _ = enc.Write(m.Envelope)
	_ = enc.Close()
	_, _ = out.WriteString(`"}`)
}

func (m *Mail) ack(w http.ResponseWriter, r *http.Request, c *Caller) error {
	var body wire.Ack
	if err := decode(c.Body, &body); err != nil {
		return err
	}
	n, err := m.Relay.Ack(r.Context(), c.Proof, body.IDs)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Acked{Acked: n})
}
