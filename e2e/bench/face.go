package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/bench"
)

// faceRole makes this program serve a hub's face without a hub, in a process of
// its own as a hub would be.
const faceRole = "face"

func serveFace() {
	var f bench.Face
	var h http.Handler
	err := json.NewDecoder(os.Stdin).Decode(&f)
	if err == nil {
		h, err = f.Handler()
	}
	if err == nil {
		var ln net.Listener
		if ln, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
			fmt.Println("http://" + ln.Addr().String())
			err = http.Serve(ln, h)
		}
	}
	fmt.Fprintln(os.Stderr, "bench face:", err)
	os.Exit(1)
}

// startFace starts such a process.
func startFace(t testing.TB, f bench.Face) *stage.Hub {
	t.Helper()
	self, err := os.Executable()
	stage.Must(t, err)
	config, err := json.Marshal(f)
	stage.Must(t, err)
	cmd := exec.Command(self, faceRole)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(config)), os.Stderr
	out, err := cmd.StdoutPipe()
	stage.Must(t, err)
	stage.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	stage.Must(t, err)
	h := &stage.Hub{URL: strings.TrimSpace(url)}
	h.Meet(t)
	return h
}
