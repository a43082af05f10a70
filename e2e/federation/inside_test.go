package federation

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// A peer's address that leads inside, however it is written, is not called: the
// operator is told the rule, and not what answered there.
func TestPeersInsideAreRefused(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	secret := &visited{answer: func(w http.ResponseWriter) { fmt.Fprint(w, `{"aid":"s3cret","kel":"s3cret"}`) }}
	inside := secret.listen(t, "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(inside, "http://"))
	for _, url := range []string{
		inside, "http://localhost:" + port, "http://127.1:" + port, "http://0x7f.1:" + port, "http://2130706433:" + port, "http://0177.0.0.1:" + port,
		"http://[::1]:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://[64:ff9b::7f00:1]:" + port, "http://0.0.0.0:" + port,
		"http://169.254.169.254/", "http://10.0.0.5/", "http://192.168.1.1/", "http://100.64.0.1/", "http://[fd00::1]/", "http://[fe80::1]/", "http://224.0.0.1/",
		"https://127.0.0.1:" + port,
		"file:///etc/passwd", "gopher://127.0.0.1:" + port, "ftp://127.0.0.1/", "unix:///run/x.sock", "http://user:pass@127.0.0.1:" + port,
	} {
		out := hub.Operate(t, "peer", "add", url, "--yes", "--name", "inside")
		if out.Code == 0 {
			t.Errorf("peer add %s was taken: %s", url, out)
		}
		if strings.Contains(out.Out+out.Err, "s3cret") || strings.Contains(out.Out+out.Err, "pass@") {
			t.Errorf("peer add %s repeats what it should not: %s", url, out)
		}
	}
	if n := secret.count(); n != 0 {
		t.Errorf("%d requests came inside, want none", n)
	}
	if n := len(stage.Peers(t, hub)); n != 0 {
		t.Errorf("%d peers, want none", n)
	}
}

// A range that is allowed opens itself and nothing beside it: a peer in it that
// sends the hub elsewhere sends it nowhere.
func TestARedirectLeadsNowhere(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	secret := &visited{answer: func(w http.ResponseWriter) { fmt.Fprint(w, `{"aid":"s3cret"}`) }}
	inside := secret.listen(t, "127.0.0.2:0")
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{inside, "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "//127.0.0.2:1/"} {
			peer := &visited{answer: func(w http.ResponseWriter) {
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			}}
			url := peer.listen(t, "127.0.0.1:0")
			out := hub.Operate(t, "peer", "add", url, "--yes", "--name", "sender", "--peer-allow-range", "127.0.0.1/32")
			if out.Code == 0 || strings.Contains(out.Out+out.Err, "s3cret") {
				t.Errorf("%d to %s: %s, want a refusal", status, to, out)
			}
			if peer.count() == 0 {
				t.Errorf("the peer in the range that is allowed was not asked: %s", out)
			}
		}
	}
	if n := secret.count(); n != 0 {
		t.Errorf("%d requests were led inside, want none", n)
	}
}

// Whatever a peer answers, it is read no further and no longer than it may be: the
// command ends, and the answers never do.
func TestAPeersAnswerIsBounded(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	for name, answer := range map[string]func(http.ResponseWriter){
		"ten gigabytes": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "10737418240")
			junk := make([]byte, 1<<20)
			for {
				if _, err := w.Write(junk); err != nil {
					return
				}
			}
		},
		"without an end": func(w http.ResponseWriter) {
			for {
				if _, err := fmt.Fprint(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := &visited{answer: answer}
			out := hub.Operate(t, "peer", "add", peer.listen(t, "127.0.0.1:0"), "--yes", "--name", "endless", "--peer-allow-range", "127.0.0.1/32")
			if out.Code == 0 {
				t.Errorf("%s, want it refused", out)
			}
		})
	}
}

// visited is a server that says one thing and counts who asked.
type visited struct {
	answer func(http.ResponseWriter)
	asked  atomic.Int64
}

func (v *visited) listen(t *testing.T, at string) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", at)
	stage.Must(t, err)
	s := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		v.asked.Add(1)
		v.answer(w)
	})}}
	s.Start()
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

func (v *visited) count() int64 { return v.asked.Load() }
