package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

const (
	envelopeCap = 4 << 20
	sendCap     = (envelopeCap+2)/3*4 + 64<<10 // of the route: base64 of it, and 64 KiB
)

// One limit, one answer, whatever way a body comes, and
// the memory of the hub does not grow with what it refuses.
func TestBigBodiesMeetOneLimit(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{Args: []string{"--relay-max-envelope", "4MiB"}})
	alice, bob := stage.NewAgent(t, hub.Hub), stage.NewAgent(t, hub.Hub)
	alice.Register()
	bob.Register()
	empty := len(stage.Sealed(bob.AID(), 1<<20)) - 1<<20
	for _, tt := range []struct {
		name string
		size int // of the envelope
		want string
	}{
		{"one byte less than an envelope may have", envelopeCap - 1, "200"},
		{"as much", envelopeCap, "200"},
		{"one byte more", envelopeCap + 1, "413 envelope_too_large"},
		{"ten times", 10 * envelopeCap, "413 body_too_large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := stage.Sealed(bob.AID(), tt.size-empty)
			if got := alice.Send(bob.AID(), env).Code(); got != tt.want {
				t.Errorf("%d bytes: %s, want %s", tt.size, got, tt.want)
			}
			body := fmt.Appendf(nil, `{"to_aid":%q,"envelope":%q}`, bob.AID(), base64.StdEncoding.EncodeToString(env))
			if got := chunked(t, alice, body).Code(); got != tt.want {
				t.Errorf("%d bytes in chunks: %s, want %s", tt.size, got, tt.want)
			}
		})
	}
	before := peakMemory(t, hub.PID())
	for _, tt := range []struct {
		name string
		body func() []byte
		want string
	}{
		{"the route's limit, of nothing", func() []byte { return bytes.Repeat([]byte(" "), sendCap) }, "400 malformed_json"},
		{"one byte beyond it", func() []byte { return bytes.Repeat([]byte(" "), sendCap+1) }, "413 body_too_large"},
		{"one string of 50 MB", func() []byte { return []byte(`{"to_aid":"` + strings.Repeat("a", 50<<20) + `"}`) }, "413 body_too_large"},
		{"a bomb", bomb, "400 malformed_json"},
		{"lists 100,000 deep", func() []byte { return []byte(strings.Repeat("[", 100_000)) }, "400 malformed_json"},
		{"objects 100,000 deep", func() []byte { return []byte(strings.Repeat(`{"a":`, 100_000)) }, "400 malformed_json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := tt.body()
			if got := alice.Do(wire.ActionSend, "/relay/send", body).Code(); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if got := chunked(t, alice, body).Code(); got != tt.want {
				t.Errorf("in chunks: %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("a million capabilities", func(t *testing.T) {
		body := alice.Registration(make([]string, 1<<20)...)
		if got := alice.Do(wire.ActionRegister, "/register", body).Code(); got != "413 body_too_large" {
			t.Errorf("%s, want 413 body_too_large", got)
		}
		body.Caps = body.Caps[:wire.MaxCaps+1]
		if got := alice.Do(wire.ActionRegister, "/register", body).Code(); got != "400 too_many_caps" {
			t.Errorf("one too many: %s, want 400 too_many_caps", got)
		}
	})
	t.Run("memory", func(t *testing.T) {
		// The largest of these bodies has 50 MB; the first table has already grown
		// the process to what accepted ones need.
		if grown := peakMemory(t, hub.PID()) - before; grown > 50<<20 {
			t.Errorf("refused bodies made the hub grow by %d MiB, want less than one of them", grown>>20)
		}
	})
}

// chunked sends a signed body without saying how long it is.
func chunked(t *testing.T, a *stage.Agent, body []byte) stage.Answer {
	t.Helper()
	r := a.Request(wire.ActionSend, "/relay/send", body)
	r.ContentLength, r.Body = -1, io.NopCloser(bytes.NewReader(body))
	answer, err := stage.Send(a.HTTP, r)
	stage.Must(t, err)
	return answer
}

// bomb unpacks to a thousand times its size. The hub takes no packed bodies: it
// never gets to unpack it.
func bomb() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 128 {
		w.Write(zeros)
	}
	w.Close()
	return b.Bytes()
}

// A body nobody signed is refused by its size alone, or at the first byte too many.
func TestBigBodiesOfStrangers(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	for _, tt := range []struct {
		name, path string
		size       int
		want       string
	}{
		{"a look-up may have 4 KiB", "/agents/keys:lookup", 4 << 10, "400 malformed_json"},
		{"not more", "/agents/keys:lookup", 4<<10 + 1, "413 body_too_large"},
		{"a send of nobody is not read", "/relay/send", 10 << 20, "401 bad_auth_headers"},
		{"nor a registration of nobody", "/register", 1 << 20, "401 bad_auth_headers"},
	} {
		for _, length := range []int64{int64(tt.size), -1} {
			r, err := http.NewRequest(http.MethodPost, hub.URL+tt.path, io.NopCloser(bytes.NewReader(bytes.Repeat([]byte(" "), tt.size))))
			stage.Must(t, err)
			r.ContentLength = length
			r.Header.Set(wire.HeaderVersion, "2")
			answer, err := stage.Send(stage.NewClient(t), r)
			if err != nil || answer.Code() != tt.want {
				t.Errorf("%s (Content-Length %d): %v %v, want %s", tt.name, length, answer, err, tt.want)
			}
		}
	}
}

// peakMemory is the most that a process ever had resident.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	return procStatus(t, pid, "VmHWM:") << 10
}

func procStatus(t *testing.T, pid int, name string) (n int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	stage.Must(t, err)
	_, rest, _ := strings.Cut(string(text), name)
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatalf("no %s in /proc/%d/status: %v", name, pid, err)
	}
	return n
}
