package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/testkit/authority"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// blocks are the shell commands of a section of the README.
func blocks(t *testing.T, section string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(stage.Root(), "README.md"))
	stage.Must(t, err)
	_, rest, ok := strings.Cut(string(text), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("the README has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for {
		_, after, ok := strings.Cut(rest, "```sh\n")
		if !ok {
			return found
		}
		block, after, _ := strings.Cut(after, "```\n")
		found, rest = append(found, block), after
	}
}

// newMachine is what somebody has who follows the README: a public address with a
// name, and an authority. The packages are made already, and what they need is
// installed, since nothing is fetched here; systemd's place takes a stand-in.
const newMachine = `
echo 203.0.113.7 hub.example.org >>/etc/hosts
mkdir -p /run/systemd/system /usr/local/bin /root
cp /tmp/systemctl /usr/local/bin/systemctl
export SSL_CERT_FILE=/tmp/roots.pem
trap '[ $? = 0 ] || cat /run/*.log' EXIT
make() { [ "$*" = deb ]; mkdir dist; mv /tmp/hub.deb dist/anet-hub_1.deb; mv /tmp/node.deb dist/anet_1.deb; }
apt() {
	[ "$1" = install ] || return 0
	shift
	dpkg --force-unsafe-io -i "$@"
	cat /tmp/authority >>/etc/anet-hub/anet-hub.env
}
mkdir /tmp/anet
cd /tmp/anet
`

// afterwards is the second machine, and what the text goes on to say.
const afterwards = `
apt install ./dist/anet_*.deb
useradd -m guest
install -o guest -m 600 invite /home/guest/invite
guest() { setpriv --reuid guest --regid guest --init-groups env -i PATH="$PATH" HOME=/home/guest SSL_CERT_FILE=$SSL_CERT_FILE "$@"; }
cd /home/guest
guest sh -eux /tmp/guest
aid=$(guest anet identity show --json | sed -n 's/.*"aid": "\(.*\)".*/\1/p')
anet-hub agent list | grep "$aid.*my-node"
why=0
anet-hub why "$aid" || why=$?
[ $why = 3 ]
anet-hub agent block "$aid" --reason 'a trial'
if guest anet hub-register; then exit 1; fi
anet-hub agent unblock "$aid"
guest anet hub-register
anet-hub audit | grep 'block.add.*a trial'

dpkg --force-unsafe-io -i /tmp/anet/dist/anet-hub_*.deb
anet-hub agent list | grep "$aid"
anet-hub doctor --domain hub.example.org
guest anet find --cap text.digest
guest anet down
dpkg --force-unsafe-io -P anet-hub
[ ! -e /usr/bin/anet-hub ]
`

// The section is followed as it stands, and nothing in it may fail: so doctor
// finds nothing either.
func TestAHubAtADomainInTenMinutes(t *testing.T) {
	t.Parallel()
	files := os.Getenv("FILES")
	if files != "" {
		follow(t, files)
		return
	}
	need.Overlay(t)
	for _, name := range []string{"dpkg", "ip", "setpriv", "useradd"} {
		need.Program(t, name)
	}
	hub, node := packages(t)
	self, err := os.Executable()
	stage.Must(t, err)
	// The test goes on by itself where ports 443 and 80 are free.
	apart(t, map[string]string{"hub.deb": hub, "node.deb": node, standIn: self},
		`ip link set lo up; ip addr add 203.0.113.7/32 dev lo; exec "$0" -test.run '^TestAHubAtADomainInTenMinutes$' -test.v`, "", self)
}

func follow(t *testing.T, files string) {
	ca := authority.Start(t, authority.Options{HTTPPort: 80, TLSPort: 443})
	said, err := os.ReadFile(ca.CAFile)
	stage.Must(t, err)
	give := func(name, text string) {
		stage.Must(t, os.WriteFile(filepath.Join(files, name), []byte(text), 0o644))
	}
	give("directory.pem", string(said))
	give("roots.pem", string(ca.Root))
	give("authority", "ANET_HUB_ACME_DIRECTORY="+ca.Directory+"\nANET_HUB_ACME_CA_FILE=/tmp/directory.pem\n")
	text := blocks(t, "A hub at your domain in ten minutes")
	if len(text) != 2 {
		t.Fatalf("the section has %d blocks, want the operator's and the guest's", len(text))
	}
	give("guest", text[1])
	cmd := exec.Command("sh", "-euc", installed)
	cmd.WaitDelay = time.Minute // a hub left behind keeps no test waiting
	cmd.Stdin = strings.NewReader("set -x\n" + newMachine + text[0] + afterwards)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("it ended with %v:\n%s", err, out)
	}
}
