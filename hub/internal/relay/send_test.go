package relay

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

func TestSend(t *testing.T) {
	tests := []struct {
		name string
		to   string
		env  []byte
		want string
	}{
		{"to a registered agent", "bob", sealed("bob", 10), ""},
		{"to nobody in particular", "", sealed("bob", 10), "invalid missing_field"},
		{"to a name with a zero byte", "b\x00b", sealed("b\x00b", 10), "invalid zero_byte"},
		{"without an envelope", "bob", nil, "invalid missing_field"},
		{"at the limit of an envelope", "bob", sealed("bob", 1000-len(sealed("bob", 256))+256), ""},
		{"one byte beyond", "bob", make([]byte, 1001), "too_large envelope_too_large"},
		{"what is no envelope", "bob", []byte("hello"), "invalid bad_envelope"},
		{"sealed to somebody else", "bob", sealed("eve", 10), "invalid recipient_mismatch"},
		{"to an agent of another hub", "eve", sealed("eve", 10), "not_found unknown_recipient"},
	}
	for _, tt := range tests {
		o := newOffice(limits, "bob")
		sent, err := o.Send(t.Context(), proofOf("alice"), mail(tt.to, tt.env))
		if got := reasonOf(err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if (sent.ID > 0) != (tt.want == "") {
			t.Errorf("%s: id %d", tt.name, sent.ID)
		}
	}
}

// Checklist 41: the quota, and none for the hub alone would fill its disk.
func TestSendQuotas(t *testing.T) {
	l := limits
	l.Total = 500
	o := newOffice(l, "bob", "carol")
	for i := range l.Messages {
		if _, err := o.Send(t.Context(), proofOf("s"+string(rune('a'+i))), mail("bob", sealed("bob", 1))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := o.Send(t.Context(), proofOf("z"), mail("bob", sealed("bob", 1)))
	if got := reasonOf(err); got != "full mailbox_full" || errs.As(err).RetryAfter == 0 {
		t.Errorf("a full mailbox: %q", got)
	}
	big := sealed("carol", 300)
	_, err = o.Send(t.Context(), proofOf("z"), mail("carol", big))
	if got := reasonOf(err); got != "full hub_mail_full" {
		t.Errorf("a full hub: %q", got)
	}
	if _, err = o.Send(t.Context(), proofOf("y"), mail("carol", sealed("bob", 300))); reasonOf(err) != "invalid recipient_mismatch" {
		t.Errorf("what is wrong with a message comes before what is wrong with the hub: %v", err)
	}
	found, _ := o.mem.Look(t.Context(), Look{AID: "bob", Limit: 10})
	if len(found) != int(l.Messages) {
		t.Errorf("%d messages are left of what was accepted, want %d", len(found), l.Messages)
	}
	if _, err := o.Ack(t.Context(), proofOf("bob"), []int64{found[0].ID, found[1].ID, found[2].ID}); err != nil {
		t.Fatal(err)
	}
	if _, err = o.Send(t.Context(), proofOf("z"), mail("carol", sealed("carol", 1))); err != nil {
		t.Errorf("after mail was collected: %v", err)
	}
}

func TestSendRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(limits, "bob")
		p := proofOf("alice")
		if _, err := o.Send(t.Context(), p, mail("bob", sealed("bob", 1))); err != nil {
			t.Fatal(err)
		}
		for range 5 { // somebody repeats what alice sent
			if _, err := o.Send(t.Context(), p, mail("bob", sealed("bob", 1))); reasonOf(err) != "unauthorized replayed" {
				t.Fatalf("a replay: %v", err)
			}
		}
		for range 2 {
			if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1))); err != nil {
				t.Errorf("within the burst, after replays: %v", err)
			}
		}
		if err := o.MaySend("alice"); reasonOf(err) != "too_many send_rate" {
			t.Errorf("an empty bucket: %v", err)
		}
		if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1))); reasonOf(err) != "too_many send_rate" {
			t.Errorf("beyond the burst: %v", err)
		}
		if err := o.MaySend("carol"); err != nil {
			t.Errorf("another sender: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
		for _, want := range []string{"EOF", "too_many send_rate"} {
			if _, err := o.Send(t.Context(), proofOf("alice"), unreadable); reasonOf(err) != want {
				t.Errorf("what cannot be read costs a token too: %v, want %s", err, want)
			}
		}
		time.Sleep(50 * time.Millisecond)
		if _, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1))); err != nil {
			t.Errorf("a token later: %v", err)
		}
	})
}

func TestSendSaysWhetherTheRecipientIsQuiet(t *testing.T) {
	tests := []struct {
		name string
		ago  time.Duration
		want bool
	}{
		{"polled just now", 0, false},
		{"polled within the hour", time.Hour - time.Second, false},
		{"not for an hour", time.Hour, true},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(limits, "bob")
			o.mem.Seen("bob", time.Now().Add(-tt.ago))
			sent, err := o.Send(t.Context(), proofOf("alice"), mail("bob", sealed("bob", 1)))
			if err != nil || sent.Quiet != tt.want {
				t.Errorf("%s: quiet = %v, %v, want %v", tt.name, sent.Quiet, err, tt.want)
			}
		})
	}
}
