package keyring

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const day = 24 * time.Hour

func folder(t *testing.T) datadir.Dir {
	t.Helper()
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func ring(t *testing.T) (*Keyring, datadir.Dir) {
	t.Helper()
	dir := folder(t)
	k, err := Init(dir, start)
	if err != nil {
		t.Fatal(err)
	}
	return k, dir
}

func published(t *testing.T, k *Keyring, now time.Time) enckeys.Signed {
	t.Helper()
	raw, err := k.Published(now)
	if err != nil {
		t.Fatal(err)
	}
	set, err := enckeys.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enckeys.Verify(raw, k.AID(), k.Signer().KEL(), identity.Replay, now); err != nil {
		t.Errorf("the set does not verify: %v", err)
	}
	return set
}

func TestKeysSurviveARestart(t *testing.T) {
	k, dir := ring(t)
	set := published(t, k, start)
	for _, name := range []string{identityFile, ringFile} {
		if info, err := os.Stat(dir.Path(name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	again, err := Open(dir, start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if again.AID() != k.AID() {
		t.Error("the node came back as another")
	}
	if _, ok := again.Private(set.Set.Keys[0].KID); !ok {
		t.Error("mail sealed before the restart cannot be opened")
	}
	if after := published(t, again, start.Add(time.Hour)); !bytes.Equal(after.Bytes, set.Bytes) {
		t.Error("the same keys were published under another number")
	}
}

func TestAnIdentityIsNeverReplaced(t *testing.T) {
	k, dir := ring(t)
	if _, err := Init(dir, start); !errs.Is(err, "identity_exists") {
		t.Errorf("Init over an identity: %v", err)
	}
	other, _ := ring(t)
	text, err := Export(other.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(dir, text); !errs.Is(err, "identity_exists") {
		t.Errorf("Import over an identity: %v", err)
	}
	if again, err := Open(dir, start); err != nil || again.AID() != k.AID() {
		t.Errorf("after both: %v", err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		name   string
		spoil  func(t *testing.T, dir datadir.Dir) error
		reason string
	}{
		{"no identity", func(t *testing.T, dir datadir.Dir) error { return os.Remove(dir.Path(identityFile)) }, "identity_missing"},
		{"a damaged identity", func(t *testing.T, dir datadir.Dir) error { return dir.Write(identityFile, []byte("x")) }, "identity_broken"},
		{"an identity others can read", func(t *testing.T, dir datadir.Dir) error { return os.Chmod(dir.Path(identityFile), 0o644) }, "secret_file_open"},
		{"a damaged ring", func(t *testing.T, dir datadir.Dir) error { return dir.Write(ringFile, []byte("x")) }, "encryption_keys_broken"},
		{"a ring others can read", func(t *testing.T, dir datadir.Dir) error { return os.Chmod(dir.Path(ringFile), 0o640) }, "secret_file_open"},
	}
	for _, tt := range tests {
		_, dir := ring(t)
		if err := tt.spoil(t, dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, start); !errs.Is(err, tt.reason) {
			t.Errorf("%s: Open = %v, want %s", tt.name, err, tt.reason)
		}
	}
}

// A machine without a clock of its own wakes up in the past and is set by the
// network: what it publishes then has a key of then.
func TestKeysFollowAClockThatWasSet(t *testing.T) {
	for name, now := range map[string]time.Time{"ahead": start.Add(21 * 24 * time.Hour), "back": start.Add(-time.Hour)} {
		k, _ := ring(t)
		if _, err := enckeys.Choose(published(t, k, now).Set.Keys, now); err != nil {
			t.Errorf("set %s: %v", name, err)
		}
	}
}

func TestTheRingMovesOn(t *testing.T) {
	k, dir := ring(t)
	first := published(t, k, start).Set.Keys[0].KID
	steps := []struct {
		after   time.Duration
		changed bool
		held    bool // the first key's private half
	}{
		{6 * day, false, true}, {8 * day, true, true}, {28 * day, true, true}, {30 * day, true, false},
	}
	for _, s := range steps {
		changed, err := k.Advance(start.Add(s.after))
		if err != nil {
			t.Fatal(err)
		}
		if _, held := k.Private(first); changed != s.changed || held != s.held {
			t.Errorf("after %v: changed %v, first key held %v", s.after, changed, held)
		}
	}
	again, err := Open(dir, start.Add(30*day))
	if err != nil {
		t.Fatal(err)
	}
	if _, held := again.Private(first); held {
		t.Error("an erased key is still on disk")
	}
}

func TestRotationIsStoredBeforeItIsUsed(t *testing.T) {
	k, dir := ring(t)
	before := published(t, k, start)
	if err := k.Rotate(start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if k.Signer().Seq() != 1 {
		t.Errorf("key state %d after a rotation", k.Signer().Seq())
	}
	after := published(t, k, start.Add(time.Hour))
	if after.KSN != 1 || !bytes.Equal(after.Bytes, before.Bytes) {
		t.Error("the same keys must be published again under the new signature")
	}
	again, err := Open(dir, start.Add(time.Hour))
	if err != nil || again.AID() != k.AID() || again.Signer().Seq() != 1 {
		t.Errorf("after a restart: %v", err)
	}
}

func TestAFailedStoreKeepsTheOldKeys(t *testing.T) {
	k, dir := ring(t)
	if err := os.RemoveAll(dir.String()); err != nil { // the disk is gone, even for root
		t.Fatal(err)
	}
	if err := k.Rotate(start); err == nil {
		t.Error("a rotation that was not stored was reported as done")
	}
	if k.Signer().Seq() != 0 {
		t.Error("keys that were not stored are in use")
	}
}

func TestExportAndImport(t *testing.T) {
	k, dir := ring(t)
	first := published(t, k, start)
	text, err := Export(dir)
	if err != nil || !strings.HasPrefix(string(text), "-----BEGIN ANET IDENTITY-----\nAID: "+k.AID()) {
		t.Fatalf("Export = %s, %v", text, err)
	}
	elsewhere := folder(t)
	if aid, err := Import(elsewhere, text); err != nil || aid != k.AID() {
		t.Fatalf("Import = %s, %v", aid, err)
	}
	moved, err := Open(elsewhere, start.Add(time.Hour))
	if err != nil || moved.AID() != k.AID() {
		t.Fatalf("Open after Import: %v", err)
	}
	set := published(t, moved, start.Add(time.Hour))
	if set.Set.Seq <= first.Set.Seq || set.Set.Keys[0].KID == first.Set.Keys[0].KID {
		t.Error("an imported identity wants a ring of its own, under a later number")
	}
	for _, text := range []string{"", "x", strings.Replace(string(text), "ANET IDENTITY", "PRIVATE KEY", 2), string(text[:len(text)/2])} {
		if _, err := Import(folder(t), []byte(text)); errs.KindOf(err) != errs.Invalid {
			t.Errorf("Import(%.40q) = %v", text, err)
		}
	}
}

func TestKeysAreReadWhileTheyChange(t *testing.T) {
	k, _ := ring(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 5 {
				now := start.Add(time.Duration(i*5+n) * time.Minute)
				if _, err := k.Published(now); err != nil {
					t.Error(err)
				}
				if i == 0 {
					if err := k.Rotate(now); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if k.Signer().Seq() != 5 {
		t.Errorf("key state %d after five rotations", k.Signer().Seq())
	}
}
