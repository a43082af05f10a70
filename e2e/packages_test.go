package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// packages makes both packages of the programs as they are.
func packages(t *testing.T) (hub, node string) {
	t.Helper()
	need.Program(t, "dpkg-deb")
	bin, out := filepath.Dir(stage.Binary(t, "anet-hub")), t.TempDir()
	stage.Binary(t, "anet")
	files := strings.Fields(command(t, nil, "deploy/deb/build.sh", "-b", bin, "-o", out))
	if len(files) != 2 {
		t.Fatalf("made %v", files)
	}
	return files[0], files[1]
}

// Settings are kept over an upgrade, and only the hub's own user reads them.
func TestPackagesHoldWhatTheyShould(t *testing.T) {
	t.Parallel()
	hub, node := packages(t)
	for file, wants := range map[string][]string{
		hub: {
			"-rwxr-xr-x root/root ./usr/bin/anet-hub", "-rw-r----- root/root ./etc/anet-hub/anet-hub.env",
			"-rw-r--r-- root/root ./lib/systemd/system/anet-hub.service", "-rw-r--r-- root/root ./usr/lib/sysusers.d/anet-hub.conf",
			"-rw-r--r-- root/root ./usr/share/bash-completion/completions/anet-hub",
			"-rw-r--r-- root/root ./usr/share/man/man1/anet-hub-backup.1.gz",
		},
		node: {"-rwxr-xr-x root/root ./usr/bin/anet", "-rw-r--r-- root/root ./usr/lib/systemd/user/anet.service"},
	} {
		var held strings.Builder
		for line := range strings.Lines(command(t, nil, "dpkg-deb", "--contents", file)) {
			f := strings.Fields(line)
			held.WriteString(f[0] + " " + f[1] + " " + f[len(f)-1] + "\n")
		}
		for _, want := range wants {
			if !strings.Contains(held.String(), want+"\n") {
				t.Errorf("%s holds no %s:\n%s", filepath.Base(file), want, held.String())
			}
		}
	}
	if kept := command(t, nil, "dpkg-deb", "--info", hub, "conffiles"); !strings.Contains(kept, "/etc/anet-hub/anet-hub.env") {
		t.Errorf("the settings are no conffile: %s", kept)
	}
}

// The hub is as closed as a server of its kind can be.
func TestUnitsAreClosed(t *testing.T) {
	analyze := need.Program(t, "systemd-analyze")
	for _, unit := range []string{"anet-hub.service", "anet-hub-backup.service"} {
		out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", filepath.Join(stage.Root(), "deploy/systemd", unit)).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}

// installed is a machine like this one onto which the packages come: what is
// changed is changed in a layer above it, and gone afterwards with every process.
const installed = `
mount -t tmpfs -o size=8g tmpfs "$LAYER"
mkdir "$LAYER"/u "$LAYER"/w "$LAYER"/m
cd "$LAYER"/m
mount -t overlay overlay -o lowerdir=/,upperdir=../u,workdir=../w .
mount -t proc proc "$LAYER"/m/proc
mount --bind /dev "$LAYER"/m/dev
for dir in run tmp; do mount -t tmpfs -o mode=1777 tmpfs "$LAYER"/m/$dir; done
cp "$FILES"/* "$LAYER"/m/tmp
cat >"$LAYER"/m/tmp/story
exec chroot "$LAYER"/m sh -eu /tmp/story
`

// What an operator does on a new machine. Root restores before the hub was ever
// started; the hub, which is not root, goes on from there.
const story = `
dpkg --force-unsafe-io -i /tmp/hub.deb /tmp/node.deb
[ "$(stat -c '%U:%G %a' /etc/anet-hub/anet-hub.env)" = 'root:anet-hub 640' ]
[ "$(stat -c '%U:%G %a' /var/lib/anet-hub)" = 'anet-hub:anet-hub 700' ]
systemd-analyze verify anet-hub.service anet-hub-backup.service anet-hub-backup.timer
systemd-analyze --user verify anet.service || [ ! -d /run/user ]
anet version

cd /
serve() {
	setpriv --reuid anet-hub --regid anet-hub --init-groups env -i PATH="$PATH" \
		ANET_HUB_DATA_DIR=/var/lib/anet-hub ANET_HUB_LISTEN=127.0.0.1:18088 anet-hub serve &
	hub=$!
	for _ in $(seq 300); do
		! anet-hub healthcheck --url http://127.0.0.1:18088 2>/dev/null || return 0
		kill -0 $hub
		sleep 0.1
	done
	return 1
}
stop() { kill $hub; wait $hub; }

serve
anet-hub identity show --json >/tmp/before
anet-hub backup /tmp/backup
stop
rm -r /var/lib/anet-hub/*
anet-hub restore /tmp/backup
serve
anet-hub identity show --json >/tmp/after
cmp /tmp/before /tmp/after
stop

echo '# mine' >>/etc/anet-hub/anet-hub.env
dpkg --force-unsafe-io -i /tmp/hub.deb
grep -q '# mine' /etc/anet-hub/anet-hub.env
dpkg --force-unsafe-io -P anet-hub anet
[ ! -e /usr/bin/anet-hub ] && [ ! -e /etc/anet-hub/anet-hub.env ]
[ -d /var/lib/anet-hub/postgres ]
echo THE END
`

func TestPackagesAreInstalledUsedAndRemoved(t *testing.T) {
	t.Parallel()
	need.Overlay(t)
	need.Program(t, "dpkg")
	hub, node := packages(t)
	out := apart(t, map[string]string{"hub.deb": hub, "node.deb": node}, "ip link set lo up 2>/dev/null || true;"+installed, story)
	if !strings.HasSuffix(strings.TrimSpace(out), "THE END") {
		t.Errorf("it did not come to its end:\n%s", out)
	}
}

// apart runs a script apart from this machine's network, mounts and processes,
// with copies of files at hand in $FILES, and gives what it said.
func apart(t *testing.T, files map[string]string, script string, input string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, from := range files {
		command(t, nil, "cp", from, filepath.Join(dir, name))
	}
	cmd := exec.Command("unshare", append([]string{"--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-euc", script}, args...)...)
	cmd.Env = append(os.Environ(), "LAYER="+t.TempDir(), "FILES="+dir)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("it ended with %v:\n%s", err, out)
	}
	return string(out)
}
