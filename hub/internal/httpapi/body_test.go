package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/budget"
)

// connection remembers its deadlines.
type connection struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func newConnection() *connection { return &connection{ResponseRecorder: httptest.NewRecorder()} }

func (c *connection) SetReadDeadline(t time.Time) error  { c.read = append(c.read, t); return nil }
func (c *connection) SetWriteDeadline(t time.Time) error { c.write = append(c.write, t); return nil }

// sips gives a body a thousand bytes at a time and lets somebody look before each.
type sips struct {
	left int
	look func(came int)
	came int
}

func (s *sips) Read(p []byte) (int, error) {
	s.look(s.came)
	if s.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := min(len(p), s.left, 1000)
	s.left, s.came = s.left-n, s.came+n
	return n, nil
}

// Announcing is free, so it must not hold memory that others need, nor time.
func TestABodyHoldsWhatHasCome(t *testing.T) {
	const announced = 100 << 20
	for _, length := range []int64{announced, -1} {
		f, conn, start := newFixture(t), newConnection(), time.Now()
		used := f.api.Budget.(*budget.Budget).Used
		r := httptest.NewRequest(http.MethodPost, "/relay/send", &sips{left: 3 << 20, look: func(came int) {
			if held := used(); held > int64(2*firstRoom+4*came) {
				t.Fatalf("length %d: %d bytes held when %d have come", length, held, came)
			}
			if last := conn.read[len(conn.read)-1]; last.After(time.Now().Add(grace + time.Duration(came/least+1)*time.Second)) {
				t.Fatalf("length %d: the deadline is %s away when %d bytes have come", length, last.Sub(start), came)
			}
		}})
		r.ContentLength = length
		if _, _, err := f.api.readBody(conn, r, announced); err == nil {
			t.Errorf("length %d: a body that ends early is read", length)
		}
		if used() != 0 {
			t.Errorf("length %d: %d bytes held afterwards", length, used())
		}
	}
}

func TestBodiesArriveWhole(t *testing.T) {
	for _, n := range []int{0, 1, firstRoom - 1, firstRoom, firstRoom + 1, 1<<20 - 1, 1 << 20} {
		for _, chunked := range []bool{false, true} {
			f, conn := newFixture(t), newConnection()
			want := bytes.Repeat([]byte("0123456"), n/7+1)[:n]
			r := httptest.NewRequest(http.MethodPost, "/relay/send", bytes.NewReader(want))
			if chunked {
				r.ContentLength = -1
			}
			got, release, err := f.api.readBody(conn, r, 1<<20)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, chunked %v: %d bytes, %v", n, chunked, len(got), err)
			}
			release()
			if used := f.api.Budget.(*budget.Budget).Used(); used != 0 {
				t.Errorf("%d bytes, chunked %v: %d held afterwards", n, chunked, used)
			}
			if last := conn.read[len(conn.read)-1]; !last.IsZero() {
				t.Errorf("%d bytes, chunked %v: a deadline is left, which ends a poll that waits", n, chunked)
			}
		}
	}
}

// A reader that is slow holds the memory of its answer; a body that no handler
// reads is read by the server.
func TestEveryRequestHasDeadlines(t *testing.T) {
	for _, tt := range []struct {
		name         string
		method, path string
		body         io.Reader
		reads        bool
	}{
		{"an answer", http.MethodGet, "/healthz", nil, false},
		{"a failure", http.MethodGet, "/internal", nil, false},
		{"no answer to speak of", http.MethodOptions, "/healthz", nil, false},
		{"a body nobody reads", http.MethodPost, "/nowhere", bytes.NewReader([]byte("x")), true},
	} {
		f, conn := newFixture(t), newConnection()
		f.api.ServeHTTP(conn, httptest.NewRequest(tt.method, tt.path, tt.body))
		if len(conn.write) == 0 || slices.ContainsFunc(conn.write, time.Time.IsZero) {
			t.Errorf("%s: the deadlines for writing are %v", tt.name, conn.write)
		}
		if (len(conn.read) > 0) != tt.reads {
			t.Errorf("%s: the deadlines for reading are %v", tt.name, conn.read)
		}
	}
}
