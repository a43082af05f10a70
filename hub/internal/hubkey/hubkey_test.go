package hubkey

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/testkit"
)

// kept is a store of one identity.
type kept struct {
	blob    []byte
	version int64
}

func (k *kept) Load(context.Context) ([]byte, int64, error) {
	if k.blob == nil {
		return nil, 0, errs.New(errs.NotFound, "hub_identity_missing", "none")
	}
	return k.blob, k.version, nil
}

func (k *kept) Create(_ context.Context, blob []byte) error {
	k.blob, k.version = blob, 1
	return nil
}

func (k *kept) Replace(_ context.Context, blob []byte, version int64, _ audit.Act) error {
	if version != k.version {
		return errs.New(errs.Conflict, "hub_identity_changed", "another was faster")
	}
	k.blob, k.version = blob, version+1
	return nil
}

// What a process signs before it has noticed a rotation at another one holds, and
// so does what is signed with the new key at once.
func TestARotationLeavesTimeToNotice(t *testing.T) {
	store, now, log := &kept{}, testkit.Now, slog.New(slog.DiscardHandler)
	here, err := Open(t.Context(), store, now, log)
	if err != nil {
		t.Fatal(err)
	}
	there, err := Find(t.Context(), store, log)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	if _, err := there.Rotate(t.Context(), audit.By{}, now); err != nil {
		t.Fatal(err)
	}
	history, err := identity.Replay(there.Current().KEL())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		why  string
		key  *identity.Controller
		at   time.Duration
		good bool
	}{
		{"the old key, before anybody can have noticed", here.Current(), refresh, true},
		{"the new key", there.Current(), 0, true},
		{"the old key, after everybody has", here.Current(), time.Minute, false},
	} {
		preimage, at := []byte("a receipt"), uint64(now.Add(tt.at).UnixMilli())
		err := identity.VerifyObject(history, there.Current().AID(), tt.key.Seq(), at, preimage, tt.key.Sign(preimage))
		if (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}
