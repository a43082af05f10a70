package relay

import (
	"context"
	"slices"
	"testing"
	"time"
)

// abroad are other hubs, which have the agents they are made with.
type abroad struct {
	has     map[string]error // why it is not taken, nil where it is
	offered []string
}

func (a *abroad) Offer(_ context.Context, m Mail) (string, error) {
	a.offered = append(a.offered, m.To)
	err, ok := a.has[m.To]
	if !ok {
		return "", NoSuchRecipient()
	}
	return "hub-b", err
}

// What is not registered here is offered to other hubs, and nothing else is.
func TestSendElsewhere(t *testing.T) {
	o := newOffice(limits, "bob")
	others := &abroad{has: map[string]error{"eve": nil, "full": MailboxFull(), "away": PeersFailed(time.Minute)}}
	o.Elsewhere = others
	for _, tt := range []struct {
		to, via, want string
	}{
		{"bob", "", ""},
		{"eve", "hub-b", ""},
		{"full", "", "full mailbox_full"},
		{"away", "", "bad_gateway peers_failed"},
		{"nobody", "", "not_found unknown_recipient"},
	} {
		p := proofOf("to-" + tt.to)
		sent, err := o.Send(t.Context(), p, mail(tt.to, sealed(tt.to, 10)))
		if got := reasonOf(err); got != tt.want || err == nil && sent.Via != tt.via || (sent.ID > 0) != (tt.to == "bob") {
			t.Errorf("to %s: %+v, %q, want %q by %q", tt.to, sent, got, tt.want, tt.via)
		}
		if _, err := o.Send(t.Context(), p, mail(tt.to, sealed(tt.to, 10))); reasonOf(err) != "unauthorized replayed" {
			t.Errorf("to %s with the same proof: %v", tt.to, err)
		}
	}
	if want := []string{"eve", "full", "away", "nobody"}; !slices.Equal(others.offered, want) {
		t.Errorf("offered are %v, want %v", others.offered, want)
	}
	for outcome, want := range map[string]float64{"queued": 1, "forwarded": 1, "bad_gateway": 1} {
		if got := o.counted(t, outcome); got != want {
			t.Errorf("%s was counted %v times, want %v", outcome, got, want)
		}
	}
}

// counted reads the counter of an outcome.
func (o *office) counted(t *testing.T, outcome string) float64 {
	t.Helper()
	families, err := o.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "anet_hub_relay_sends_total" && m.GetLabel()[0].GetValue() == outcome {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}
