package service

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/node/internal/attempt"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/task"
)

const (
	// MaxAnswer bounds what a program may answer.
	MaxAnswer = 1 << 20
	// MaxMessage bounds the program's words for the caller, in characters.
	MaxMessage = 280
)

// reply is a program's answer to one call.
type reply struct {
	id    string
	resp  *http.Response
	ctx   context.Context
	watch *attempt.Attempt
	began time.Time
}

// outcome is the table of what a program's status means for the caller. Only
// words that leave no doubt count as done or as not done.
func (r reply) outcome() provider.Outcome {
	switch status := r.resp.StatusCode; {
	case status == http.StatusOK:
		return r.done()
	case status == http.StatusAccepted:
		return provider.Unverified(task.Accepted, "the program took the call and will do it later")
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		o := provider.Unavailable(task.Unavailable, "the program takes no calls now")
		o.RetryAfter = attempt.RetryAfter(r.resp.Header, time.Now())
		return o
	case status >= 500:
		return provider.Unverified(task.ServiceError, "the program failed; whether it did its work is not known")
	case status >= 400:
		return provider.Outcome{Status: effect.Failed, Reason: task.RefusedByService, Message: r.refusal()}
	}
	return badAnswer()
}

func badAnswer() provider.Outcome {
	return provider.Unverified(task.BadAnswer, "the program's answer cannot be read; whether it did its work is not known")
}

// read gives the body, and false when it is larger than an answer may be.
func (r reply) read() (body []byte, fits bool, err error) {
	body, err = io.ReadAll(io.LimitReader(r.resp.Body, MaxAnswer+1))
	return body, len(body) <= MaxAnswer, err
}

func (r reply) done() provider.Outcome {
	body, fits, err := r.read()
	if err != nil {
		return broken(r.ctx, r.watch)
	}
	var members map[string]jsontext.Value
	if !fits || json.Unmarshal(body, &members) != nil || members == nil {
		return badAnswer()
	}
	return provider.Outcome{
		Status:   effect.OK,
		Message:  cut(textOf(members["message"])),
		Metrics:  metrics(members),
		Evidence: r.evidence(body, members["evidence"]),
	}
}

// refusal is the program's own word for why not.
func (r reply) refusal() string {
	var body struct {
		Error jsontext.Value `json:"error"`
	}
	data, fits, err := r.read()
	if err == nil && fits && json.Unmarshal(data, &body) == nil {
		return cut(textOf(body.Error))
	}
	return ""
}

// evidence says where the result comes from. The program may describe what it
// saw; how much that is worth is not for it to raise.
func (r reply) evidence(body []byte, given jsontext.Value) *effect.Evidence {
	e := &effect.Evidence{
		VerifyTrust: 1, Protocol: "http", Requested: r.id, NativeAck: true,
		ObservedState: string(body), LatencyMS: time.Since(r.began).Milliseconds(),
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(given, &members) != nil {
		return e
	}
	take(members["protocol"], &e.Protocol)
	take(members["observed_state"], &e.ObservedState)
	take(members["quirk"], &e.Quirk)
	take(members["native_ack"], &e.NativeAck)
	take(members["latency_ms"], &e.LatencyMS)
	trust := e.VerifyTrust
	take(members["verify_trust"], &trust)
	e.VerifyTrust = max(0, min(trust, e.VerifyTrust))
	return e
}

// take copies a member where it is there and of the right kind.
func take[T any](member jsontext.Value, to *T) {
	var v T
	if len(member) > 0 && member.Kind() != 'n' && json.Unmarshal(member, &v) == nil {
		*to = v
	}
}

func textOf(member jsontext.Value) string {
	var s string
	take(member, &s)
	return s
}

// metrics are the answer's top-level numbers, as the program wrote them. One
// beyond binary64 stays out: it would make the whole result unreadable to peers.
func metrics(members map[string]jsontext.Value) []byte {
	numbers := maps.Clone(members)
	maps.DeleteFunc(numbers, func(_ string, v jsontext.Value) bool { return !finite(v) })
	if len(numbers) == 0 {
		return nil
	}
	out, err := json.Marshal(numbers, json.Deterministic(true))
	if err != nil {
		return nil // cannot happen: the numbers were read as JSON
	}
	return out
}

func finite(v jsontext.Value) bool {
	if v.Kind() != '0' {
		return false
	}
	_, err := strconv.ParseFloat(string(v), 64)
	return err == nil
}

// cut bounds the program's words and keeps what would move a terminal's cursor
// out of them.
func cut(s string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(plain); len(runes) > MaxMessage {
		return string(runes[:MaxMessage])
	}
	return plain
}
