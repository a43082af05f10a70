package relayauth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	. "github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/testkit/vectors"
)

const hub = "bafyreigoldenhub"

func TestVectorsRelayauth(t *testing.T) { vectors.Test(t, "testdata/relayauth.json") }

func TestVectorsSigEncoding(t *testing.T) {
	vectors.Test(t, "testdata/relayauth-sig-encoding.json", "reject")
}

func signed(t testing.TB, c *identity.Controller) http.Header {
	t.Helper()
	r := httptest.NewRequest("POST", "/relay/poll?x=%2F", nil)
	Sign(c, "poll", hub, r, []byte("{}"), uint64(testkit.NowMS))
	return r.Header
}

func TestHeadersAreStrict(t *testing.T) {
	c := testkit.Agent(t, 1)
	for _, tt := range []struct {
		name   string
		change func(http.Header)
		ok     bool
	}{
		{"as signed", func(http.Header) {}, true},
		{"no signer", func(h http.Header) { h.Del("X-ANet-AID") }, false},
		{"no AID for a signer", func(h http.Header) { h.Set("X-ANet-AID", "me/you") }, false},
		{"two times", func(h http.Header) { h.Add("X-ANet-TS", "1") }, false},
		{"empty seq", func(h http.Header) { h.Set("X-ANet-Seq", "") }, false},
		{"leading zero", func(h http.Header) { h.Set("X-ANet-Seq", "00") }, false},
		{"sign", func(h http.Header) { h.Set("X-ANet-Seq", "+0") }, false},
		{"more than 64 bits", func(h http.Header) { h.Set("X-ANet-TS", "18446744073709551616") }, false},
		{"padding", func(h http.Header) { h.Set("X-ANet-Sig", h.Get("X-ANet-Sig")+"==") }, false},
		{"short signature", func(h http.Header) { h.Set("X-ANet-Sig", "AAAA") }, false},
	} {
		h := signed(t, c)
		tt.change(h)
		_, err := ParseHeaders(h)
		if (err == nil) != tt.ok || err != nil && errs.KindOf(err) != errs.Unauthorized {
			t.Errorf("%s: error = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestEverythingIsBound(t *testing.T) {
	c := testkit.Agent(t, 1)
	claim, err := ParseHeaders(signed(t, c))
	if err != nil {
		t.Fatal(err)
	}
	other := claim
	other.TS++
	const target = "/relay/poll?x=%2F"
	for _, tt := range []struct {
		name                              string
		claim                             Claim
		action, hub, method, target, body string
		want                              identity.Code
	}{
		{"as signed", claim, "poll", hub, "POST", target, "{}", ""},
		{"another action", claim, "ack", hub, "POST", target, "{}", identity.InvalidSignature},
		{"another hub", claim, "poll", "bafyreiother", "POST", target, "{}", identity.InvalidSignature},
		{"another method", claim, "poll", hub, "GET", target, "{}", identity.InvalidSignature},
		{"another path", claim, "poll", hub, "POST", "/relay/ack?x=%2F", "{}", identity.InvalidSignature},
		{"a query written differently", claim, "poll", hub, "POST", "/relay/poll?x=/", "{}", identity.InvalidSignature},
		{"another body", claim, "poll", hub, "POST", target, "{} ", identity.InvalidSignature},
		{"another time", other, "poll", hub, "POST", target, "{}", identity.InvalidSignature},
	} {
		err := tt.claim.Verify(c.KEL(), identity.Replay, tt.action, tt.hub, tt.method, tt.target, []byte(tt.body))
		if got := identity.CodeOf(err); got != tt.want {
			t.Errorf("%s: code = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestABadSignatureIsNotReplayed(t *testing.T) {
	c := testkit.Agent(t, 1)
	claim, err := ParseHeaders(signed(t, c))
	if err != nil {
		t.Fatal(err)
	}
	replays := 0
	replay := func(kel []byte) (*identity.History, error) { replays++; return identity.Replay(kel) }
	if err := claim.Verify(c.KEL(), replay, "ack", hub, "POST", "/", nil); err == nil || replays != 0 {
		t.Errorf("Verify = %v after %d replays, want a refusal without any", err, replays)
	}
}

func TestFresh(t *testing.T) {
	ms := uint64(testkit.NowMS)
	for _, tt := range []struct {
		name string
		ts   uint64
		want bool
	}{
		{"now", ms, true},
		{"five minutes old", ms - MaxSkew, true},
		{"older", ms - MaxSkew - 1, false},
		{"five minutes ahead", ms + MaxSkew, true},
		{"further ahead", ms + MaxSkew + 1, false},
		{"beyond the bound", 1<<62 + 1, false},
		{"negative as a signed number", 1<<64 - 1, false},
		{"zero", 0, false},
	} {
		if got := (Claim{TS: tt.ts}).Fresh(testkit.Now); got != tt.want {
			t.Errorf("%s: Fresh = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestSignSendsWhatNetHTTPSends(t *testing.T) {
	c := testkit.Agent(t, 1)
	for _, target := range []string{"/a%2Fb?c=%20d", "/a?", "/", "/ü", "/a?x=1;y"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			claim, err := ParseHeaders(r.Header)
			if err == nil {
				err = claim.Verify(c.KEL(), identity.Replay, "poll", hub, r.Method, r.RequestURI, nil)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusUnauthorized)
			}
		}))
		r, err := http.NewRequest("", srv.URL+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		Sign(c, "poll", hub, r, nil, uint64(testkit.NowMS))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if srv.Close(); res.StatusCode != http.StatusOK {
			t.Errorf("GET %s: status %d, want the signature to hold", target, res.StatusCode)
		}
	}
}

func TestReplayKeyDependsOnSignerAndSignature(t *testing.T) {
	a := Claim{AID: "a", Sig: []byte("x")}
	for _, b := range []Claim{{AID: "b", Sig: []byte("x")}, {AID: "a", Sig: []byte("y")}} {
		if a.ReplayKey() == b.ReplayKey() {
			t.Errorf("%v and %v share a key", a, b)
		}
	}
}

func FuzzParseHeaders(f *testing.F) {
	h := signed(f, testkit.Agent(f, 1))
	f.Add(h.Get("X-ANet-AID"), h.Get("X-ANet-TS"), h.Get("X-ANet-Seq"), h.Get("X-ANet-Sig"))
	f.Fuzz(func(t *testing.T, aid, ts, seq, sig string) {
		h := http.Header{}
		for name, v := range map[string]string{"X-ANet-AID": aid, "X-ANet-TS": ts, "X-ANet-Seq": seq, "X-ANet-Sig": sig} {
			h.Set(name, v)
		}
		c, err := ParseHeaders(h)
		if err == nil && (len(c.Sig) != 64 || strings.ContainsRune(c.AID, '/')) {
			t.Fatalf("ParseHeaders(%q) = %+v", h, c)
		}
	})
}
