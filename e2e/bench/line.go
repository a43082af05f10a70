package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// line is one HTTP connection on which one request follows the other. The
// client of net/http would take as much of a small machine as the hub it asks.
type line struct {
	conn net.Conn
	in   *bufio.Reader
}

// dial opens a connection for each worker.
func dial(t testing.TB, base string, workers int) []*line {
	t.Helper()
	u, err := url.Parse(base)
	stage.Must(t, err)
	lines := make([]*line, workers)
	for i := range lines {
		conn, err := net.Dial("tcp", u.Host)
		stage.Must(t, err)
		t.Cleanup(func() { conn.Close() })
		lines[i] = &line{conn, bufio.NewReaderSize(conn, 64<<10)}
	}
	return lines
}

// request is what goes over a line.
func request(t testing.TB, r *http.Request) []byte {
	t.Helper()
	b, err := encode(r)
	stage.Must(t, err)
	return b
}

func encode(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	err := r.Write(&b)
	return b.Bytes(), err
}

func get(t testing.TB, url string) []byte {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	stage.Must(t, err)
	return request(t, r)
}

// ask wants a 200 and gives the body.
func (l *line) ask(request []byte) ([]byte, error) {
	if _, err := l.conn.Write(request); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body := bytes.NewBuffer(make([]byte, 0, max(resp.ContentLength, 512)))
	if _, err := io.Copy(body, resp.Body); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answer %s: %s", resp.Status, body)
	}
	return body.Bytes(), nil
}
