package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// A poll that could not take everything says so by the next
// one not waiting.
func TestMoreMailThanAPage(t *testing.T) {
	hub := stage.HubInside(t, func(c *app.Config) { c.SendBurst = 1000 })
	bob, alice, eve := stage.NewAgent(t, &hub.Hub), stage.NewAgent(t, &hub.Hub), stage.NewAgent(t, &hub.Hub)
	for _, a := range []*stage.Agent{bob, alice, eve} {
		a.Register()
	}
	var sent []int64
	for range 250 {
		sent = append(sent, alice.Mail(bob.AID(), 300))
	}
	if n := eve.Ack(sent...); n != 0 {
		t.Errorf("another agent's acknowledgement removed %d messages", n)
	}
	const wait = 55 * time.Second
	start := time.Now()
	var got []int64
	for polls := 1; len(got) < len(sent); polls++ {
		page := bob.Poll(wire.Poll{Limit: 100, AfterID: last(got), WaitMS: stage.Wait(wait)})
		for _, m := range page.Messages {
			got = append(got, m.ID)
		}
		if polls > 3 {
			t.Fatalf("%d messages after three polls of 100, want %d", len(got), len(sent))
		}
	}
	if took := time.Since(start); took >= wait {
		t.Errorf("three polls took %s: one of them waited", took)
	}
	if !slices.Equal(got, sent) {
		t.Errorf("the messages came in another order than they were sent in")
	}
	if n := bob.Ack(got...); n != int64(len(sent)) {
		t.Errorf("acknowledged %d of %d", n, len(sent))
	}
}

func last(ids []int64) int64 {
	if len(ids) == 0 {
		return 0
	}
	return ids[len(ids)-1]
}

// A limit for each mailbox and one for all of them; a sender is told, and
// what was accepted stays.
func TestFullMailboxes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		limit  func(*app.Config)
		size   int
		taken  int
		refuse string
	}{
		{"by count", func(c *app.Config) { c.MailMessages = 5 }, 10, 5, "507 mailbox_full"},
		{"by bytes", func(c *app.Config) { c.MailBytes = 10_000 }, 1800, 5, "507 mailbox_full"},
		{"by all mailboxes together", func(c *app.Config) { c.MailTotal = 10_000 }, 1800, 5, "507 hub_mail_full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hub := stage.HubInside(t, tt.limit)
			bob, alice := stage.NewAgent(t, &hub.Hub), stage.NewAgent(t, &hub.Hub)
			bob.Register()
			alice.Register()
			var sent []int64
			for range tt.taken {
				sent = append(sent, alice.Mail(bob.AID(), tt.size))
			}
			for range 3 {
				if got := alice.Send(bob.AID(), stage.Sealed(bob.AID(), tt.size)).Code(); got != tt.refuse {
					t.Errorf("one too many: %s, want %s", got, tt.refuse)
				}
			}
			var got []int64
			for _, m := range bob.Poll(wire.Poll{}).Messages {
				got = append(got, m.ID)
			}
			if !slices.Equal(got, sent) {
				t.Errorf("bob returns and finds %v, want %v", got, sent)
			}
			bob.Ack(got...)
			stage.Until(t, stage.Patience, "there is room again", func() bool {
				return alice.Send(bob.AID(), stage.Sealed(bob.AID(), tt.size)).Code() == "200"
			})
		})
	}
}

// The mailboxes of identities that never come back cannot fill the disk,
// and an operator sees it coming.
func TestMailOfTheDeadIsBounded(t *testing.T) {
	t.Parallel()
	const boxes, size = 200, 1000
	database := pgtest.URL(t)
	limit := func(c *app.Config) { c.DatabaseURL, c.MailTotal, c.SendBurst = database, boxes*size, 10_000 }
	hub := stage.HubInside(t, limit)
	alice := stage.NewAgent(t, &hub.Hub)
	alice.Register()
	accepted, codes := int64(0), map[string]int{}
	for range boxes + 50 {
		dead := stage.NewAgent(t, &hub.Hub)
		dead.Register()
		code := alice.Send(dead.AID(), stage.Sealed(dead.AID(), size)).Code()
		codes[code]++
		if code == "200" {
			accepted++
		}
	}
	if len(codes) != 2 || codes["507 hub_mail_full"] < 50 {
		t.Errorf("answers %v, want 200 up to the bound and 507 hub_mail_full beyond", codes)
	}
	held, most := stage.Metric(t, &hub.Hub, "anet_hub_relay_mail_bytes"), stage.Metric(t, &hub.Hub, "anet_hub_relay_mail_bytes_limit")
	if most != boxes*size || held > most || held < most/2 {
		t.Errorf("metrics say %v of %v bytes are used", held, most)
	}

	t.Run("what expires is counted, and makes room", func(t *testing.T) {
		stage.Must(t, hub.Stop())
		later := stage.HubInside(t, limit, func(c *app.Config) { c.MailTTL = time.Millisecond })
		stage.Until(t, stage.Patience, "all of it expired", func() bool {
			return stage.Metric(t, &later.Hub, "anet_hub_relay_expired_total") == float64(accepted)
		})
		bob := stage.NewAgent(t, &later.Hub)
		bob.Register()
		alice.At(&later.Hub).Mail(bob.AID(), size)
	})
}
