package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// Whatever answers at a seller's address, redeem ends in time with the truth: what was
// not said did not surely happen, and nothing is brought where nobody said.
func TestHostileSellers(t *testing.T) {
	hub := stage.HubInside(t)
	seller := stall(t, &hub.Hub)
	n := buyer(t, &hub.Hub, seller.AID())
	out := n.OK("voucher", "buy", seller.AID(), "text.digest", "--yes", "--json").Out
	file := stage.Write(t, filepath.Join(stage.Dir(t), "v.json"), out)
	var strayed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	said := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, body) }
	}
	drips := func(every time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 64<<10)); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				time.Sleep(every)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		code   int
		says   string
	}{
		{"never ends", drips(0), 6, "seller_answer_invalid"},
		{"never comes", drips(500 * time.Millisecond), 8, "seller_still_at_work"},
		{"breaks off always", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 8, "seller_still_at_work"},
		{"sends on", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, 4, "seller_redirects"},
		{"garbage", said(200, "\x1b[31m<html>"), 6, "seller_answer_invalid"},
		{"the words of another call", said(200, `{"status":"OK","voucher_id":"bafy"}`), 6, "seller_answer_invalid"},
		{"a made up status", said(200, `{"status":"SPLENDID"}`), 6, `"UNVERIFIED"`},
		{"accepted", said(202, `{"status":"OK"}`), 6, "seller_answer_invalid"},
		{"a coffee pot", said(418, "no"), 4, "seller_refused"},
		{"out of order", said(500, "no"), 6, "seller_answer_invalid"},
		{"spent, it says", said(409, `{"error":"spent \u001b[31m"}`), 6, "voucher_spent"},
		{"too many words", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Words", strings.Repeat("a", 1<<20))
		}, 8, "seller_still_at_work"},
		{"at work for ever", said(409, `{"code":"voucher_in_use"}`), 8, "seller_still_at_work"},
	} {
		server := httptest.NewServer(tt.answer)
		wait := stage.Patience // which the answer ends
		if tt.code == 8 {
			wait = 2 * time.Second
		}
		begun := time.Now()
		got := n.Run("voucher", "redeem", "--file", file, "--at", server.URL, "--wait", wait.String(), "--json")
		server.CloseClientConnections()
		server.Close()
		if got.Code != tt.code || !strings.Contains(got.Out, tt.says) || strings.Contains(got.Out+got.Err, "\x1b") {
			t.Errorf("a seller whose answer %s: %s, want exit %d with %s", tt.name, got, tt.code, tt.says)
		}
		if took := time.Since(begun); took > 10*time.Second+stage.Stall {
			t.Errorf("a seller whose answer %s: %s", tt.name, took)
		}
	}
	if strayed.Load() != 0 {
		t.Errorf("the voucher was brought %d times where a seller sent it on to", strayed.Load())
	}
}
