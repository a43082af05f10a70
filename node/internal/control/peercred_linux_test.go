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
	for _, other := range need.Others {
		conn := need.AsUser(t, other.UID, func() (net.Conn, error) { return net.Dial("unix", path) })
		io.WriteString(conn, "POST "+aboutPath+" HTTP/1.1\r\nHost: node\r\nContent-Length: 2\r\n\r\n{}")
		n, _ := conn.Read(make([]byte, 64))
		if answered := n > 0; answered != other.Friend {
			t.Errorf("%s was answered: %v, want %v", other.Name, answered, other.Friend)
		}
		conn.Close()
	}
}
