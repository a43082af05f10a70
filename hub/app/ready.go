package app

import (
	"context"
	"net"
	"time"
)

// EnvNotify names the socket at which a service manager waits to hear that the
// start is over (sd_notify(3)).
const EnvNotify = "NOTIFY_SOCKET"

// settling is how long a hub that does TLS may take for its first certificate. It
// is ready afterwards all the same: it goes on asking, its log says what is wrong,
// and its operator has to be able to look.
const settling = 30 * time.Second

// tellReady tells the service manager once requests are answered, so that who
// starts the hub and then works with it finds it there.
func (a *App) tellReady(ctx context.Context) {
	if a.cfg.Notify == "" {
		return
	}
	if keeper := a.hub.keeper; keeper != nil {
		select {
		case <-keeper.Tried():
		case <-time.After(settling):
		case <-ctx.Done():
			return
		}
	}
	if err := notify(a.cfg.Notify, "READY=1"); err != nil {
		a.log.Error("the service manager was not told that the hub is ready", "error", err)
	}
}

func notify(socket, state string) error {
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}
