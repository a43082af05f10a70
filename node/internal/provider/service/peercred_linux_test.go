package service

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/anet-hub/anet/shared/testkit/need"
)

// The path may be right and the listener still be somebody else's: the socket
// was replaced after the look at it.
func TestAnotherUsersListenerIsNotTrusted(t *testing.T) {
	need.Root(t)
	for _, other := range need.Others {
		path := folder(t) + "/s"
		must(t, os.Chmod(folderOf(path), 0o777))
		l := need.AsUser(t, other.UID, func() (net.Listener, error) { return net.Listen("unix", path) })
		conn, err := net.Dial("unix", path)
		must(t, err)
		var d *distrust
		if err := checkListener(conn.(*net.UnixConn)); errors.As(err, &d) == other.Friend {
			t.Errorf("listener of %s: checkListener = %v, want safe %v", other.Name, err, other.Friend)
		}
		conn.Close()
		l.Close()
	}
}

func folderOf(path string) string { return path[:len(path)-len("/s")] }
