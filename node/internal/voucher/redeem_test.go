package voucher

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// seller answers in turn as it is told, and in the end as it did last.
type seller struct {
	turns []turn
	asked int
	body  []byte

	signed []string // payments that came
}

type turn struct {
	status int
	body   string
	header http.Header
	takes  time.Duration
}

// Turns that are no answers.
const (
	nobody = -1 // no connection
	lose   = -2 // the connection breaks
)

func (s *seller) RoundTrip(r *http.Request) (*http.Response, error) {
	s.signed = append(s.signed, r.Header.Values(payment.HeaderSignature)...)
	now := s.turns[min(s.asked, len(s.turns)-1)]
	s.asked++
	if now.status == nobody {
		return nil, errors.New("refused")
	}
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	s.body, _ = io.ReadAll(r.Body)
	if !pause(r.Context(), now.takes) {
		return nil, r.Context().Err()
	}
	if now.status == lose {
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{StatusCode: now.status, Header: now.header, Body: io.NopCloser(strings.NewReader(now.body)), Request: r}, nil
}

const (
	done    = `{"capability":"text.digest","status":"OK","message":"here","extra":[1]}`
	wasDone = `{"error":"spent","code":"voucher_spent","result":` + done + `}`
)

func after(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }

// A seller's answer, or the lack of one, is sorted by whether anything was done; and
// what may have been done is asked for again.
func TestRedeem(t *testing.T) {
	many := strings.Repeat(" ", maxAnswer) + done
	for _, tt := range []struct {
		name  string
		turns []turn
		want  string // the status, or the reason
		asked int
	}{
		{"done", []turn{{200, done, nil, 0}}, "OK", 1},
		{"failed", []turn{{200, `{"status":"FAILED","reason":"refused_by_service"}`, nil, 0}}, "FAILED", 1},
		{"a status nobody knows", []turn{{200, `{"status":"GREAT"}`, nil, 0}}, "UNVERIFIED", 1},
		{"no status", []turn{{200, `{"capability":"text.digest"}`, nil, 0}}, BadAnswer, 1},
		{"another capability", []turn{{200, `{"capability":"text.other","status":"OK"}`, nil, 0}}, BadAnswer, 1},
		{"another voucher", []turn{{200, `{"voucher_id":"bafy","status":"OK"}`, nil, 0}}, BadAnswer, 1},
		{"garbage", []turn{{200, "<html>", nil, 0}}, BadAnswer, 1},
		{"a member twice", []turn{{200, `{"status":"OK","Status":"FAILED"}`, nil, 0}}, BadAnswer, 1},
		{"a list", []turn{{200, "[]", nil, 0}}, BadAnswer, 1},
		{"no end", []turn{{200, many, nil, 0}}, BadAnswer, 1},
		{"accepted", []turn{{202, "", nil, 0}}, BadAnswer, 1},
		{"a broken seller", []turn{{500, `{"error":"internal error"}`, nil, 0}}, BadAnswer, 1},
		{"another way", []turn{{307, "", http.Header{"Location": {"https://elsewhere.example"}}, 0}}, "seller_redirects", 1},
		{"refused", []turn{{402, `{"error":"late","code":"voucher_invalid"}`, nil, 0}}, "voucher_invalid", 1},
		{"a word of this program's in a refusal", []turn{{403, `{"error":"no","code":"seller_connection_lost"}`, nil, 0}}, "seller_refused", 1},
		{"refused without words", []turn{{404, "", nil, 0}}, "seller_refused", 1},
		{"limited", []turn{{429, `{"error":"slow","code":"max_inflight"}`, after("7"), 0}}, "max_inflight", 1},
		{"no place", []turn{{503, `{"error":"busy","code":"busy"}`, after("1"), 0}}, "busy", 1},

		{"spent, and this came of it", []turn{{409, wasDone, nil, 0}}, "OK", 1},
		{"spent, in the middle of it", []turn{{409, `{"code":"voucher_spent","result":{"status":"UNVERIFIED","reason":"interrupted"}}`, nil, 0}}, "UNVERIFIED", 1},
		{"spent, and no word", []turn{{409, `{"error":"the voucher is spent"}`, nil, 0}}, Spent, 1},
		{"spent, and a word of no sense", []turn{{409, `{"code":"voucher_spent","result":"OK"}`, nil, 0}}, Spent, 1},
		{"at work", []turn{{409, `{"code":"voucher_in_use"}`, after("1"), 0}, {409, `{"code":"voucher_in_use"}`, nil, 0}, {409, wasDone, nil, 0}}, "OK", 3},
		{"at work for ever", []turn{{409, `{"code":"voucher_in_use"}`, after("86400"), 0}}, StillAtWork, 1},

		{"nobody there", []turn{{nobody, "", nil, 0}}, Unreachable, 1},
		{"a lost answer", []turn{{lose, "", nil, 0}, {409, wasDone, nil, 0}}, "OK", 2},
		{"lost by a proxy", []turn{{502, "<html>", nil, 0}, {504, "", nil, 0}, {409, wasDone, nil, 0}}, "OK", 3},
		{"lost, and limited then", []turn{{lose, "", nil, 0}, {429, `{"code":"max_inflight"}`, after("2"), 0}, {503, "", nil, 0}, {409, wasDone, nil, 0}}, "OK", 4},
		{"lost, and gone for a while", []turn{{lose, "", nil, 0}, {nobody, "", nil, 0}, {nobody, "", nil, 0}, {200, done, nil, 0}}, "OK", 4},
		{"lost always", []turn{{lose, "", nil, 0}}, ConnectionLost, 1 + patience},
		{"lost, and refused then", []turn{{lose, "", nil, 0}, {402, `{"code":"voucher_invalid"}`, nil, 0}}, "voucher_invalid", 2},
		{"lost, and spent then", []turn{{lose, "", nil, 0}, {409, "{}", nil, 0}}, Spent, 2},
		{"no answer in time", []turn{{200, done, nil, time.Hour}}, StillAtWork, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			line, s := ask(tt.turns...)
			at := &url.URL{Scheme: "https", Host: "shop.example", Path: "/redeem"}
			v := bought(t, nil)
			r, err := line.Redeem(ctx, at, v, json.RawMessage(`{ "a":"<b>" }`))
			got := string(r.Status)
			if err != nil {
				got = testkit.Reason(err)
			}
			if got != tt.want || s.asked != tt.asked {
				t.Errorf("%s: %s after %d times, want %s after %d (%v)", tt.name, got, s.asked, tt.want, tt.asked, err)
			}
			if len(s.body) > 0 && !strings.HasSuffix(string(s.body), `,"capability":"text.digest","args":{ "a":"<b>" }}`) {
				t.Errorf("%s: sent %s, want the arguments byte for byte", tt.name, s.body)
			}
			if last := tt.turns[len(tt.turns)-1]; r.Status == effect.OK && (r.Before != (last.status == 409) || string(r.Answer) != done) {
				t.Errorf("%s: %+v", tt.name, r)
			}
		})
	}
}

// Who stops waiting is told that it is not over.
func TestRedeemIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		line, _ := ask(turn{200, done, nil, time.Hour})
		time.AfterFunc(time.Second, stop)
		_, err := line.Redeem(ctx, &url.URL{Scheme: "https", Host: "shop.example"}, bought(t, nil), nil)
		if testkit.Reason(err) != ConnectionLost || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want it not known what was done", err)
		}
	})
}

func TestAnOrderIsJSON(t *testing.T) {
	v := bought(t, func(v *payment.Voucher) { v.Capability = `a"b\c` })
	var got struct {
		Voucher    []byte
		Capability string
		Args       json.RawMessage
	}
	must(t, json.Unmarshal(order(v, nil), &got))
	if string(got.Voucher) != string(v.Raw) || got.Capability != v.Capability || got.Args != nil {
		t.Errorf("%s", order(v, nil))
	}
}
