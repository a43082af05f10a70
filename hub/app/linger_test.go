package app

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
)

// Not every client reads before it has sent all: it gets the refusal afterwards.
func TestARefusalReachesWhoStillSends(t *testing.T) {
	for _, c := range []struct {
		says, head string
		read       int64 // by the handler before it refuses
		closes     bool
	}{
		{"a body announced, of which nothing is read", "Content-Length: 16777216\r\n\r\n", 0, true},
		{"one in chunks, of which a part is read", "Transfer-Encoding: chunked\r\n\r\n1000000\r\n", 1 << 20, true},
		{"one that is read whole", "Content-Length: 16777216\r\n\r\n", 16 << 20, false},
	} {
		s := server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, c.read+1)
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}), slog.New(slog.DiscardHandler))
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		go s.Serve(ln)

		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: hub\r\n"+c.head)
		if _, more := conn.Write(make([]byte, 16<<20)); err != nil || more != nil {
			t.Errorf("%s: sending it ends with %v, %v", c.says, err, more)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge || answer.Close != c.closes {
			t.Errorf("%s: the answer is %+v, %v", c.says, answer, err)
		}
	}
}
