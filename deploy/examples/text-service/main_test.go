package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	tests := []struct {
		name, capability, args string
		status                 int
		contains               string
	}{
		{"digest of a text", "text.digest", `{"text":"abc"}`, 200, `"observed_state":"` + abc + `"`},
		{"digest of bytes", "text.digest", `{"data_b64":"YWJj"}`, 200, `"digest":"` + abc + `"`},
		{"digest of nothing", "text.digest", `{"text":""}`, 200, "e3b0c44298fc1c14"},
		{"word count", "text.wordcount", `{"text":"one two\nthrée\n"}`, 200, `"words":3`},
		{"neither", "text.digest", `{}`, 400, `"error"`},
		{"both", "text.digest", `{"text":"a","data_b64":"YQ=="}`, 400, `"error"`},
		{"something else", "text.digest", `{"txt":"a"}`, 400, `"error"`},
		{"bad base64", "text.digest", `{"data_b64":"YQ"}`, 400, "padding"},
		{"no JSON", "text.digest", `abc`, 400, `"error"`},
		{"too large", "text.digest", `{"text":"` + strings.Repeat("x", maxRequest) + `"}`, 413, `"error"`},
		{"another capability", "text.translate", `{"text":"a"}`, 404, `"error"`},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tt.args))
		r.Header.Set("X-ANet-Capability", tt.capability)
		w := httptest.NewRecorder()
		serve(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.contains) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %.200s, want %d with %s", tt.name, w.Code, w.Body, tt.status, tt.contains)
		}
	}
}

func TestBusy(t *testing.T) {
	for range maxCalls {
		slots <- struct{}{}
	}
	defer func() {
		for range maxCalls {
			<-slots
		}
	}()
	w := httptest.NewRecorder()
	serve(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a call too many: %d", w.Code)
	}
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestOnlyAStaleSocketIsRemoved(t *testing.T) {
	dir := folder(t)
	stale, file, live := filepath.Join(dir, "stale"), filepath.Join(dir, "file"), filepath.Join(dir, "live")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", live)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, tt := range []struct {
		path  string
		opens bool
	}{{stale, true}, {file, false}, {live, false}, {filepath.Join(dir, "new", "s"), true}} {
		l, err := listen(tt.path)
		if (err == nil) != tt.opens {
			t.Errorf("listen(%s) = %v", filepath.Base(tt.path), err)
		}
		if err != nil {
			continue
		}
		if info, _ := os.Stat(tt.path); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(tt.path), info.Mode().Perm())
		}
		l.Close()
	}
	if data, _ := os.ReadFile(file); string(data) != "precious" {
		t.Error("a file was removed")
	}
}

func TestItServesUntilItIsStopped(t *testing.T) {
	socket := filepath.Join(folder(t), "s")
	listener, err := listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serveOn(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader(`{"text":"abc"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-ANet-Capability", "text.digest")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "ba7816bf") {
		t.Errorf("answer %d %s", resp.StatusCode, body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("serveOn = %v", err)
	}
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Error("the socket was left behind")
	}
}
