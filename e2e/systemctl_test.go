package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// standIn is the name under which the program of these tests does what systemctl
// does, where no systemd runs: of a unit it heeds the user, the environment, the
// folders, the right to low ports, and whether its start is told.
const standIn = "systemctl"

func systemctl(args []string) error {
	var words []string
	now := false
	for _, a := range args {
		now = now || a == "--now"
		if !strings.HasPrefix(a, "-") {
			words = append(words, a)
		}
	}
	for _, name := range words[1:] {
		if strings.HasSuffix(name, ".timer") {
			continue // its hour does not come in a test
		}
		u, err := readUnit(strings.TrimSuffix(name, ".service") + ".service")
		if err != nil {
			return err
		}
		if err := u.do(words[0], now); err != nil {
			return fmt.Errorf("%s %s: %w", words[0], name, err)
		}
	}
	return nil
}

// unit is what a file says of a service, in the order of its lines.
type unit struct {
	name string
	says map[string][]string
}

func readUnit(name string) (u unit, err error) {
	text, err := os.ReadFile("/lib/systemd/system/" + name)
	u = unit{name, map[string][]string{}}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			u.says[key] = append(u.says[key], value)
		}
	}
	return u, err
}

func (u unit) last(key string) string {
	if all := u.says[key]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

func (u unit) do(verb string, now bool) error {
	switch {
	case verb == "enable" && now, verb == "start":
		return u.start()
	case verb == "disable" && now, verb == "stop":
		return u.stop()
	case verb == "try-restart" && u.pid() != 0:
		return errors.Join(u.stop(), u.start())
	}
	return nil
}

// start returns when systemd would.
func (u unit) start() error {
	for _, line := range u.says["ExecStart"] {
		cmd, err := u.command(line)
		if err != nil {
			return err
		}
		switch u.last("Type") {
		case "oneshot":
			err = cmd.Run()
		case "notify":
			err = u.startNotified(cmd)
		default:
			err = errors.Join(cmd.Start(), u.remember(cmd))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (u unit) command(line string) (*exec.Cmd, error) {
	who, err := user.Lookup(u.last("User"))
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	dir := "/var/lib/" + u.last("StateDirectory")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chown(dir, uid, gid)); err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", "exec "+strings.ReplaceAll(line, "%%", "%"))
	log, err := os.OpenFile("/run/"+u.name+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log // closed when the stand-in ends
	cmd.Env = append(u.environment(), "STATE_DIRECTORY="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	if u.last("AmbientCapabilities") == "CAP_NET_BIND_SERVICE" {
		cmd.SysProcAttr.AmbientCaps = []uintptr{10}
	}
	return cmd, nil
}

func (u unit) environment() []string {
	env := append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, u.says["Environment"]...)
	text, err := os.Open(strings.TrimPrefix(u.last("EnvironmentFile"), "-"))
	if err != nil {
		return env
	}
	defer text.Close()
	for lines := bufio.NewScanner(text); lines.Scan(); {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	return env
}

// startNotified waits until the service says that it is ready, or ends.
func (u unit) startNotified(cmd *exec.Cmd) error {
	socket := fmt.Sprintf("/run/notify.%d", os.Getpid())
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+socket)
	if err := errors.Join(os.Chmod(socket, 0o777), cmd.Start(), u.remember(cmd)); err != nil {
		return err
	}
	said := make(chan error, 2)
	go func() { said <- fmt.Errorf("it ended: %v", cmd.Wait()) }()
	go func() {
		word := make([]byte, 100)
		n, err := conn.Read(word)
		if err == nil && string(word[:n]) != "READY=1" {
			err = fmt.Errorf("it said %q", word[:n])
		}
		said <- err
	}()
	return <-said
}

func (u unit) pidFile() string { return "/run/" + u.name + ".pid" }

func (u unit) remember(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	return os.WriteFile(u.pidFile(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644)
}

// pid is 0 where the service does not run. What has ended and nobody asked after
// has no command line any more.
func (u unit) pid() int {
	text, _ := os.ReadFile(u.pidFile())
	pid, _ := strconv.Atoi(string(text))
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil || len(line) == 0 {
		return 0
	}
	return pid
}

func (u unit) stop() error {
	pid := u.pid()
	if pid == 0 {
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	for range 1200 { // two minutes
		if u.pid() == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("it does not stop")
}
