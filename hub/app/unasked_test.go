package app

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// lines are connections of a server to clients in this process: time stands still
// while they are at work.
type lines struct{ calls chan net.Conn }

func (l *lines) Accept() (net.Conn, error) {
	if c, ok := <-l.calls; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *lines) Close() error   { close(l.calls); return nil }
func (l *lines) Addr() net.Addr { return &net.UnixAddr{Name: "lines"} }

func (l *lines) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	l.calls <- far
	return near, nil
}

// A connection that was opened ahead holds up no hub that stops, and a request that
// is under way comes to its end.
func TestConnectionsWithoutARequestHoldUpNoStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived, finish := make(chan struct{}), make(chan struct{})
		s := server(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(arrived)
			<-finish
			w.WriteHeader(http.StatusNoContent)
		}), quiet)
		l := &lines{calls: make(chan net.Conn)}
		go s.Serve(l)
		ahead, _ := l.dial(t.Context(), "", "")
		defer ahead.Close()
		client := &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
		answered := make(chan int, 1)
		go func() {
			resp, err := client.Get("http://hub/")
			if err != nil {
				t.Error(err)
				answered <- 0
				return
			}
			defer resp.Body.Close()
			answered <- resp.StatusCode
		}()
		<-arrived
		synctest.Wait() // the server knows both connections
		stopped, began := make(chan error, 1), time.Now()
		go func() { stopped <- s.Shutdown(t.Context()) }()
		if _, err := ahead.Read(make([]byte, 1)); err == nil {
			t.Error("the connection without a request was answered")
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the connection without a request is closed after %s", took)
		}
		close(finish)
		if err := <-stopped; err != nil {
			t.Errorf("the server ends with %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s to stop", took)
		}
		if status := <-answered; status != http.StatusNoContent {
			t.Errorf("the request under way ends with %d", status)
		}
	})
}
