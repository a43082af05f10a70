package stage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// Hub is where a hub answers and who it is.
type Hub struct {
	URL string
	AID string
}

// HubConfig says how to start a hub. Without a database it runs a private one.
type HubConfig struct {
	Name     string
	Database string // URL
	DataDir  string // one of its own where empty
	Port     int    // a free one where 0
	Args     []string
	Env      []string
}

// HubProcess is a real `anet-hub serve`.
type HubProcess struct {
	*Hub
	*Process
	Config HubConfig
}

// StartHub starts a hub and returns when it is ready.
func StartHub(t testing.TB, c HubConfig) *HubProcess {
	t.Helper()
	h := LaunchHub(t, c)
	h.Ready(t, Patience)
	return h
}

// LaunchHub starts a hub and does not wait for it.
func LaunchHub(t testing.TB, c HubConfig) *HubProcess {
	t.Helper()
	if c.Name == "" {
		c.Name = "anet-hub"
	}
	if c.DataDir == "" {
		c.DataDir = filepath.Join(Dir(t), "hub")
	}
	if c.Port == 0 {
		c.Port = FreePort(t)
	}
	t.Cleanup(func() { StopDatabase(t, c.DataDir) })
	return &HubProcess{
		Hub:     &Hub{URL: "http://127.0.0.1:" + strconv.Itoa(c.Port)},
		Process: Start(t, c.command(t)),
		Config:  c,
	}
}

func (c HubConfig) command(t testing.TB) Command {
	env := append([]string{"ANET_HUB_REGISTER_BURST=10000"}, c.Env...)
	if c.Database != "" {
		env = append(env, "ANET_HUB_DATABASE_URL="+c.Database)
	}
	return Command{
		Name: c.Name, Path: Binary(t, "anet-hub"), Env: env,
		Args: append([]string{"serve", "--listen", "127.0.0.1:" + strconv.Itoa(c.Port), "--data-dir", c.DataDir}, c.Args...),
	}
}

// Ready waits until the hub serves, and learns who it is.
func (h *HubProcess) Ready(t testing.TB, within time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(within); !h.IsReady(); time.Sleep(10 * time.Millisecond) {
		if !h.Alive() {
			t.Fatalf("%s ended before it was ready:\n%s", h.Name, h.Log())
		}
		if time.Now().After(deadline) {
			h.Signal(syscall.SIGQUIT) // which makes it write down what it waits for
			_ = h.Wait(t)
			t.Fatalf("%s is not ready within %s:\n%s", h.Name, within, h.Log())
		}
	}
	h.Meet(t)
}

// IsReady asks GET /readyz.
func (h *Hub) IsReady() bool {
	resp, err := impatient.Get(h.URL + "/readyz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Who asks again and again asks impatiently, who asks once waits for the answer.
var (
	impatient = &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	patient   = &http.Client{Timeout: Patience, Transport: impatient.Transport}
)

// Meet asks the hub who it is. A hub that comes back is the one it was, and who
// signs requests for it meanwhile may read on.
func (h *Hub) Meet(t testing.TB) {
	t.Helper()
	resp, err := patient.Get(h.URL + "/hub/identity")
	Must(t, err)
	defer resp.Body.Close()
	var id wire.Identity
	Must(t, json.NewDecoder(resp.Body).Decode(&id))
	if h.AID != id.AID {
		h.AID = id.AID
	}
}

// Again starts a hub of the same folder and address after this one ended, and
// returns when it is ready.
func (h *HubProcess) Again(t testing.TB) {
	t.Helper()
	h.Relaunch(t)
	h.Ready(t, Patience)
}

// Relaunch does not wait for it.
func (h *HubProcess) Relaunch(t testing.TB) {
	t.Helper()
	h.Process = Start(t, h.Config.command(t))
}

// Operate runs an operator command beside the hub, or alone.
func (h *HubProcess) Operate(t testing.TB, args ...string) Output {
	t.Helper()
	c := h.Config.command(t)
	c.Args = append(args, "--data-dir", h.Config.DataDir)
	return Run(t, Patience, c)
}

// Operator runs operator commands of a hub.
type Operator interface {
	Operate(t testing.TB, args ...string) Output
}

// Invite makes an invite and gives its id and token.
func Invite(t testing.TB, hub Operator, args ...string) (id, token string) {
	t.Helper()
	out := hub.Operate(t, append([]string{"invite", "create", "--json"}, args...)...)
	var made struct{ ID, Token string }
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Token == "" {
		t.Fatalf("no invite was made: %v %s", err, out)
	}
	return made.ID, made.Token
}

// Postmaster is the process id of the private database, 0 when there is none.
func (h *HubProcess) Postmaster() int { return postmaster(h.Config.DataDir) }

// KillDatabase is kill -9 of the private database under the hub, and reports whether
// there was one.
func (h *HubProcess) KillDatabase() bool {
	pid := h.Postmaster()
	return pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil
}

func postmaster(dataDir string) int {
	cluster := filepath.Join(dataDir, "postgres")
	text, err := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	if at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || at != cluster {
		return 0 // a number of the past
	}
	return pid
}

// StopDatabase ends the private database that a killed hub left running.
func StopDatabase(t testing.TB, dataDir string) {
	t.Helper()
	pid := postmaster(dataDir)
	if pid == 0 {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	Until(t, Patience, fmt.Sprintf("the private database (process %d) ends", pid), func() bool {
		return syscall.Kill(pid, 0) != nil
	})
}
