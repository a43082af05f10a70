package app

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// A connection that was opened ahead holds up no hub that stops, and a request that
// is under way comes to its end.
func TestConnectionsWithoutARequestHoldUpNoStop(t *testing.T) {
	arrived, finish := make(chan struct{}), make(chan struct{})
	s := server(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-finish
		w.WriteHeader(http.StatusNoContent)
	}), quiet)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	ahead, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ahead.Close()
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		defer resp.Body.Close()
		answered <- resp.StatusCode
	}()
	<-arrived
	stopped := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	go func() { stopped <- s.Shutdown(ctx) }()
	if _, err := ahead.Read(make([]byte, 1)); err == nil {
		t.Error("the connection without a request was answered")
	}
	close(finish)
	if err := <-stopped; err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if status := <-answered; status != http.StatusNoContent {
		t.Errorf("the request under way ends with %d", status)
	}
}
