package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/errs"
)

// dock is a mailroom that peers bring mail to.
type dock struct {
	*mailroom
	*Forwards
}

func newDock(t testing.TB, pool *pgxpool.Pool, open ...string) dock {
	return dock{newMailroom(t, pool, open...), NewForwards(pool)}
}

func (d dock) arrival(to, text string) forward.Arrival {
	return forward.Arrival{
		Mail: relay.Mail{To: to, Envelope: []byte(text), At: d.now()}, CID: "cid of " + text, Since: d.now().Add(-forward.Memory),
	}
}

func (d dock) bring(to, text string, l relay.Limits) error {
	_, err := d.Deposit(context.Background(), d.arrival(to, text), l)
	return err
}

// Checklist 48: destination before duplicate memory, and a forward that was
// refused can be repeated.
func TestDeposit(t *testing.T) {
	d := newDock(t, pgtest.New(t), "bob", "carol", "left")
	d.shut("left")
	one := roomy
	one.Messages = 1
	for _, step := range []struct {
		why, to, text, want string
		limits              relay.Limits
	}{
		{"nobody here", "stranger", "a", "unknown_destination", roomy},
		{"who has left", "left", "a", "unknown_destination", roomy},
		{"the same for somebody", "bob", "a", "", one},
		{"once more", "bob", "a", "duplicate", roomy},
		{"once more, to a full mailbox", "bob", "a", "duplicate", one},
		{"once more, to another", "carol", "a", "duplicate", roomy},
		{"once more, to nobody", "stranger", "a", "unknown_destination", roomy},
		{"another, to a full mailbox", "bob", "b", "mailbox_full", one},
		{"that again, with room", "bob", "b", "", roomy},
	} {
		wantReason(t, step.why, d.bring(step.to, step.text, step.limits), step.want)
	}
	d.wantExact("bob", 2)
	d.wantExact("carol", 0)
	d.open("left")
	wantReason(t, "who is back", d.bring("left", "c", roomy), "")
}

func TestDepositAlone(t *testing.T) {
	d := newDock(t, pgtest.New(t), "bob")
	first, err := d.Deposit(t.Context(), d.arrival("bob", "a"), roomy)
	if err != nil || !first.Alone || first.ID <= 0 {
		t.Errorf("the first: %+v, %v", first, err)
	}
	second, err := d.Deposit(t.Context(), d.arrival("bob", "b"), roomy)
	if err != nil || second.Alone || second.ID <= first.ID {
		t.Errorf("the second: %+v, %v", second, err)
	}
	if local := d.mustSend("bob", "c"); local <= second.ID {
		t.Errorf("a local one has id %d after %d", local, second.ID)
	}
}

func TestStanding(t *testing.T) {
	d := newDock(t, pgtest.New(t), "bob")
	wantReason(t, "nobody here", d.Standing(t.Context(), d.arrival("stranger", "a")), "unknown_destination")
	wantReason(t, "somebody", d.Standing(t.Context(), d.arrival("bob", "a")), "")
	wantReason(t, "a forward", d.bring("bob", "a", roomy), "")
	wantReason(t, "what was taken", d.Standing(t.Context(), d.arrival("bob", "a")), "duplicate")
}

// Two hundred forwards of one payload at once, through two processes, are one
// message.
func TestDepositsOfOnePayloadAreOneMessage(t *testing.T) {
	pool := pgtest.New(t)
	other, err := pgxpool.NewWithConfig(t.Context(), pool.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	docks := []dock{newDock(t, pool, "bob", "carol"), newDock(t, other)}
	var stored, known atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			to := []string{"bob", "carol"}[i/2%2]
			switch err := docks[i%2].bring(to, "a", roomy); {
			case err == nil:
				stored.Add(1)
			case errs.Is(err, "duplicate"):
				known.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var messages int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM message`).Scan(&messages); err != nil {
		t.Fatal(err)
	}
	if stored.Load() != 1 || known.Load() != 199 || messages != 1 {
		t.Errorf("%d stored, %d known, %d messages", stored.Load(), known.Load(), messages)
	}
}

// The quota is exact among local sends and forwards at once.
func TestDepositQuotaIsExact(t *testing.T) {
	d := newDock(t, pgtest.New(t), "bob")
	few := roomy
	few.Messages = 50
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			err := d.bring("bob", fmt.Sprint(i), few)
			if i%2 == 0 {
				_, err = d.send("bob", "local", few)
			}
			if err != nil && !errs.Is(err, "mailbox_full") {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	d.wantExact("bob", 50)
	var claims, brought int
	if err := d.mailroom.pool.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM forwarded), count(*) FILTER (WHERE envelope <> 'local') FROM message`).Scan(&claims, &brought); err != nil {
		t.Fatal(err)
	}
	if claims != brought {
		t.Errorf("%d claims for %d messages", claims, brought)
	}
}

// An insert that fails, for whatever reason, leaves no claim behind.
func TestAFailedDepositReleasesItsClaim(t *testing.T) {
	d := newDock(t, pgtest.New(t), "bob")
	exec := func(sql string) {
		t.Helper()
		if _, err := d.mailroom.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`ALTER TABLE message ADD CONSTRAINT full_disk CHECK (size <> 5)`)
	if err := d.bring("bob", "12345", roomy); err == nil || errs.As(err) != nil {
		t.Fatalf("a failing insert: %v", err)
	}
	d.wantExact("bob", 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Deposit(ctx, d.arrival("bob", "12345"), roomy); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went: %v", err)
	}
	exec(`ALTER TABLE message DROP CONSTRAINT full_disk`)
	wantReason(t, "the same again", d.bring("bob", "12345", roomy), "")
	d.wantExact("bob", 1)
}

// A claim counts for fifteen days, whether it was swept away or not.
func TestClaimsAreForgotten(t *testing.T) {
	d := newDock(t, pgtest.New(t), "bob")
	wantReason(t, "the first", d.bring("bob", "a", roomy), "")
	d.advance(forward.Memory - time.Second)
	wantReason(t, "before its time", d.bring("bob", "a", roomy), "duplicate")
	forgotten := func() int64 {
		n, err := d.Forget(t.Context(), d.now().Add(-forward.Memory))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := forgotten(); n != 0 {
		t.Errorf("%d forgotten too early", n)
	}
	d.advance(2 * time.Second)
	wantReason(t, "unswept", d.bring("bob", "a", roomy), "")
	wantReason(t, "and claimed anew", d.bring("bob", "a", roomy), "duplicate")
	d.advance(forward.Memory + time.Second)
	if n := forgotten(); n != 1 {
		t.Errorf("%d forgotten, want 1", n)
	}
	wantReason(t, "forgotten", d.bring("bob", "a", roomy), "")
}

// Who is registered or blocked here is nobody else's to deliver to.
func TestLocal(t *testing.T) {
	h := newHub(t)
	o, n, stranger, gone := h.operator(), h.node(), h.node(), h.node()
	h.register(n, n.Register("n"))
	h.register(gone, gone.Register("gone"))
	if _, err := h.Deregister(t.Context(), gone.Proof(h.clock.now())); err != nil {
		t.Fatal(err)
	}
	mail, store := NewRelay(h.pool, newReplay(h.pool, h.clock)), NewForwards(h.pool)
	look := func(what, aid string, here bool) {
		t.Helper()
		if got, err := store.Local(t.Context(), aid, h.clock.now()); err != nil || got != here {
			t.Errorf("%s: %v, %v, want %v", what, got, err, here)
		}
		q, err := mail.Enqueue(t.Context(), h.known(n), relay.Mail{To: aid, Envelope: []byte{0}, At: h.clock.now()}, roomy)
		if q.NotHere == here {
			t.Errorf("mail to %s: %+v, %v", what, q, err)
		}
	}
	look("a registered agent", n.AID(), true)
	look("one that has left", gone.AID(), false)
	look("one that was never here", stranger.AID(), false)
	if err := o.block("aid", stranger.AID(), time.Hour); err != nil {
		t.Fatal(err)
	}
	look("one that is blocked", stranger.AID(), true)
	h.clock.advance(2 * time.Hour)
	look("one whose block has ended", stranger.AID(), false)
}

// Peers hear of agents that are registered here, whoever may see them.
func TestKeysForPeers(t *testing.T) {
	h := newHub(t)
	n, bare := h.node(), h.node()
	r := n.Register("n")
	r.EncKeys = n.Keyset(h.clock.now(), false)
	h.register(n, r)
	h.register(bare, bare.Register("bare"))
	store := NewForwards(h.pool)
	if set, kel, err := store.Keys(t.Context(), n.AID()); err != nil || string(set) != string(r.EncKeys) || string(kel) != string(r.KEL) {
		t.Errorf("%d bytes, %d bytes, %v", len(set), len(kel), err)
	}
	_, _, err := store.Keys(t.Context(), bare.AID())
	wantReason(t, "one without keys", err, "keys_unknown")
	if _, err := h.Deregister(t.Context(), n.Proof(h.clock.now())); err != nil {
		t.Fatal(err)
	}
	_, _, err = store.Keys(t.Context(), n.AID())
	wantReason(t, "one that has left", err, "keys_unknown")
}
