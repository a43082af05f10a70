package control

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/anet-hub/anet/node/internal/nodetest"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// The folder and the socket keep other users out. Opened by mistake, they let
// nobody in all the same.
func TestAnotherUserIsNotAnswered(t *testing.T) {
	need.Root(t)
	dir := folder(t, "n")
	serve(t, dir, nodetest.New())
	path, err := locate(dir)
	must(t, err)
	for folder := dir.String(); folder != os.TempDir(); folder = filepath.Dir(folder) {
		must(t, os.Chmod(folder, 0o755))
	}
	must(t, os.Chmod(path, 0o666))
	for _, tt := range []struct {
		name     string
		uid      int
		answered bool
	}{{"root", 0, true}, {"nobody", 65534, false}} {
		conn := need.AsUser(t, tt.uid, func() (net.Conn, error) { return net.Dial("unix", path) })
		io.WriteString(conn, "POST "+aboutPath+" HTTP/1.1\r\nHost: node\r\nContent-Length: 2\r\n\r\n{}")
		n, _ := conn.Read(make([]byte, 64))
		if answered := n > 0; answered != tt.answered {
			t.Errorf("%s was answered: %v, want %v", tt.name, answered, tt.answered)
		}
		conn.Close()
	}
}
