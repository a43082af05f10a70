package outbound

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

func newKey(t *testing.T) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type held struct{ *identity.Controller }

func (h held) Current() *identity.Controller { return h.Controller }

// peerThat answers in one way.
func peerThat(t *testing.T, h http.HandlerFunc) peers.Peer {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return peers.Peer{AID: newKey(t).AID(), Name: "peer", Endpoint: srv.URL}
}

func local() *Client {
	return New(Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// A forward arrives as it was signed, however long it is, and with its length.
func TestForwardArrivesWhole(t *testing.T) {
	key := newKey(t)
	for _, size := range []int{1, 2, 3, step - 1, step, step + 1, 1 << 20} {
		payload := make([]byte, size)
		_, _ = rand.Read(payload)
		var got wire.Forward
		p := peerThat(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || int64(len(body)) != r.ContentLength || r.URL.Path != "/fed/v1/forward" || r.Header.Get("Idempotency-Key") != "" {
				t.Errorf("%d bytes: %d of %d at %s, %v", size, len(body), r.ContentLength, r.URL.Path, err)
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Errorf("%d bytes: %v", size, err)
			}
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"status":"queued"}`)
		})
		f := forward.Sign(key, "dest", payload, time.Now())
		if err := local().Forward(t.Context(), p, f); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		h, _ := identity.Replay(key.KEL())
		if err := identity.VerifyObject(h, key.AID(), got.KeyStateSeq, got.TS, forward.Preimage(got), got.Sig); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// What a hub says counts, and what something in its place says does not.
func TestForwardReadsAnswers(t *testing.T) {
	for _, tt := range []struct {
		why    string
		status int
		body   string
		reason string
	}{
		{"taken", 202, `{"status":"queued"}`, ""},
		{"taken before", 200, `{"status":"DUPLICATE"}`, ""},
		{"a page that says 200 to everything", 200, `<html>welcome</html>`, "peer_not_a_hub"},
		{"an object of something else", 200, `{"ok":true}`, "peer_not_a_hub"},
		{"not there", 404, `{"error":"UNKNOWN_DESTINATION","detail":"x"}`, "peer_knows_not"},
		{"a proxy without its hub", 404, `not found`, "peer_failed"},
		{"a hub that does not deliver", 404, `{"error":"there is no such route","code":"no_such_route"}`, "peer_failed"},
		{"a full mailbox", 507, `{"error":"MAILBOX_FULL"}`, "mailbox_full"},
		{"policy", 403, `{"error":"POLICY_REFUSED"}`, "peer_refused"},
		{"a signature it cannot verify yet", 401, `{"error":"INVALID_SIGNATURE"}`, "peer_refused"},
		{"larger than it takes, says a proxy", 413, ``, "peer_refused"},
		{"a fault", 500, `{"error":"INTERNAL"}`, "peer_failed"},
		{"who we are is not known there", 502, `{"error":"POLICY_REFUSED"}`, "peer_failed"},
		{"busy", 503, `{"error":"BUSY"}`, "peer_busy"},
		{"a proxy that is busy", 503, `busy`, "peer_failed"},
		{"more than its rate", 429, `{"error":"BUSY"}`, "peer_busy"},
		{"more than the rate of its proxy", 429, `slowly`, "peer_busy"},
		{"elsewhere", 302, ``, "redirect_refused"},
		{"more than an answer may have", 500, strings.Repeat("x", maxForwarded+1), "answer_too_large"},
	} {
		p := peerThat(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			if tt.status == 302 {
				w.Header().Set("Location", "/elsewhere")
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		err := local().Forward(t.Context(), p, forward.Sign(newKey(t), "dest", []byte("x"), time.Now()))
		reason := ""
		if e := errs.As(err); e != nil {
			reason = e.Reason
		} else if err != nil {
			reason = err.Error()
		}
		if reason != tt.reason {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.reason)
		}
		if err != nil && tt.body != "" && len(tt.body) > 5 && strings.Contains(err.Error(), tt.body[:6]) {
			t.Errorf("%s: the answer is repeated: %v", tt.why, err)
		}
		if e := errs.As(err); (tt.status == 503 || tt.status == 429) && e.RetryAfter != 7*time.Second {
			t.Errorf("%s: to come again in %s", tt.why, e.RetryAfter)
		}
	}
}

// Checklist 49: the question is signed for the peer that is asked, and never twice
// in the same way.
func TestKeysAreAskedForSigned(t *testing.T) {
	key, seen := newKey(t), map[[16]byte]bool{}
	var peer peers.Peer
	peer = peerThat(t, func(w http.ResponseWriter, r *http.Request) {
		claim, err := relayauth.ParseHeaders(r.Header)
		if err == nil {
			err = claim.Verify(key.KEL(), identity.Replay, wire.ActionFedKeys, peer.AID, r.Method, r.RequestURI, nil)
		}
		if err != nil || seen[claim.ReplayKey()] || r.URL.Path != "/fed/v2/keys/"+peer.AID {
			t.Errorf("%s: %v, used before: %v", r.URL.Path, err, seen[claim.ReplayKey()])
		}
		seen[claim.ReplayKey()] = true
		_, _ = io.WriteString(w, `{"keyset":"AQID","kel":"BAUG"}`)
	})
	now := time.Now()
	ask := NewKeyAsker(local(), held{key}, func() time.Time { return now })
	for range 5 {
		if k, err := ask.Keys(t.Context(), peer, peer.AID); err != nil || len(k.Keyset) != 3 || len(k.KEL) != 3 {
			t.Errorf("%+v, %v", k, err)
		}
	}
	if _, err := NewKeyAsker(local(), held{}, time.Now).Keys(t.Context(), peer, peer.AID); !errs.Is(err, "hub_identity_missing") {
		t.Errorf("without a key: %v", err)
	}
}
