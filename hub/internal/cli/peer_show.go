package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/plain"
)

// peerView is a peer as --json prints it.
type peerView struct {
	Name       string     `json:"name"`
	AID        string     `json:"aid"`
	URL        string     `json:"url"`
	Status     string     `json:"status"` // of peerStatus, or what was done
	Delivery   bool       `json:"delivery"`
	Discovery  bool       `json:"discovery"`
	Paused     bool       `json:"paused"`
	Proven     bool       `json:"proven"`
	FromFile   bool       `json:"from_file"`
	AddedAt    *time.Time `json:"added_at"`
	ProvedAt   *time.Time `json:"proved_at"`
	AnsweredAt *time.Time `json:"answered_at"`
	RefusedAt  *time.Time `json:"refused_at"`
	Refusal    string     `json:"refusal"`        // the code
	RefusalWhy string     `json:"refusal_reason"` // in words
	NextTryAt  *time.Time `json:"next_try_at"`
}

func (p *Program) viewPeer(s peers.Standing) peerView {
	v := peerView{
		Name: s.Name, AID: s.AID, URL: s.Endpoint, Status: peerStatus(s), Delivery: s.Delivery, Discovery: s.Discovery,
		Paused: s.Paused, Proven: s.Proven(), FromFile: s.FromFile, AddedAt: orNull(s.AddedAt), ProvedAt: orNull(s.ProvedAt),
		AnsweredAt: orNull(s.LastSuccess), RefusedAt: orNull(s.LastRefused), Refusal: s.Refusal, RefusalWhy: s.RefusalWhy,
	}
	if !s.Paused {
		v.NextTryAt = orNull(s.NextTry)
	}
	return v
}

func peerStatus(s peers.Standing) string {
	switch {
	case s.Paused:
		return "paused"
	case !s.Proven():
		return "unproven"
	case s.Failing():
		return "failing"
	}
	return "ok"
}

// done is the view of a peer that something was done to.
func (v peerView) done(what string) peerView {
	v.Status = what
	return v
}

// offer is what an operator decides about.
func (v peerView) offer(w io.Writer) {
	fmt.Fprintf(w, "aid\t%s\nurl\t%s\nname\t%s\ndelivery\t%s\ndiscovery\t%s\n", v.AID, v.URL, v.Name, sayOnOff(v.Delivery), sayOnOff(v.Discovery))
}

func (v peerView) text(w io.Writer) {
	v.offer(w)
	status := v.Status
	if v.FromFile {
		status += ", from the file of --peers-file"
	}
	fmt.Fprintf(w, "status\t%s\nadded\t%s\nproven\t%s\nlast answer\t%s\n", status, orNever(v.AddedAt), orNever(v.ProvedAt), orNever(v.AnsweredAt))
	if v.RefusedAt != nil {
		fmt.Fprintf(w, "last failure\t%s\t%s\t%s\n", when(*v.RefusedAt), v.Refusal, plain.Line(v.RefusalWhy))
	}
	fmt.Fprintf(w, "next try\t%s\n", orNever(v.NextTryAt))
}

func orNever(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return when(*t)
}

func (p *Program) showPeers(list []peers.Standing) error {
	views := make([]peerView, len(list))
	for i, s := range list {
		views[i] = p.viewPeer(s)
	}
	return p.show(map[string]any{"peers": views}, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tSTATUS\tDELIVERY\tDISCOVERY\tLAST ANSWER\tURL\tAID")
		for _, v := range views {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, v.Status, sayOnOff(v.Delivery), sayOnOff(v.Discovery), orNever(v.AnsweredAt), v.URL, v.AID)
		}
	})
}

// showChanged shows a peer as it is after a change.
func (p *Program) showChanged(ctx context.Context, j *job, aid, done string) error {
	s, err := j.Peers.Find(ctx, aid)
	if err != nil {
		return err
	}
	v := p.viewPeer(s).done(done)
	return p.show(v, v.offer)
}

// streamView is how far a stream was read, as --json prints it.
type streamView struct {
	Stream     peers.Stream `json:"stream"`
	Cursor     uint64       `json:"cursor"`
	Lag        *int64       `json:"lag"` // entries that wait; null: unknown
	Entries    int64        `json:"entries"`
	ReadAt     *time.Time   `json:"read_at"`
	NextAt     *time.Time   `json:"next_at"`
	HeldSeq    uint64       `json:"held_seq"` // of the first that is held; 0: none
	HeldAID    string       `json:"held_aid"`
	HeldReason string       `json:"held_reason"`
	Failure    string       `json:"failure"` // of the last reading
	Refused    int64        `json:"refused"` // entries, for good
	Refusal    string       `json:"refusal"` // of the last of them
	RefusedAt  *time.Time   `json:"refused_at"`
}

func viewStream(s peers.Progress) streamView {
	v := streamView{Stream: s.Stream, Cursor: s.Cursor, Entries: s.Entries, ReadAt: orNull(s.LastOK), NextAt: orNull(s.NextAt),
		HeldSeq: s.HeldSeq, HeldAID: s.HeldAID, HeldReason: s.HeldReason, Failure: s.Failure, Refused: s.Refused, Refusal: s.Refusal, RefusedAt: orNull(s.RefusedAt)}
	if s.Lag >= 0 {
		v.Lag = &s.Lag
	}
	return v
}

func (v streamView) lag() string {
	if v.Lag == nil {
		return "unknown"
	}
	return fmt.Sprint(*v.Lag)
}

func (p *Program) showPeer(s peers.Standing, streams []peers.Progress) error {
	v := struct {
		peerView
		Streams []streamView `json:"streams"`
	}{p.viewPeer(s), make([]streamView, len(streams))}
	for i, stream := range streams {
		v.Streams[i] = viewStream(stream)
	}
	return p.show(v, func(w io.Writer) {
		v.text(w)
		for _, s := range v.Streams {
			s.text(w)
		}
	})
}

// heldHint is what to do about an entry that is held. It holds up nothing but itself.
func heldHint(reason string) string {
	if reason == learned.RegisteredHere {
		return "nothing here: the agent is registered at both hubs, and should leave one (anet hub-leave, anet join URL --move); anet-hub why AID"
	}
	return "nothing: it is asked again, and time mends it"
}

func (v streamView) text(w io.Writer) {
	fmt.Fprintf(w, "\nstream\t%s\nread up to\t%d\nlag\t%s\nentries\t%d\nlast read\t%s\nnext\t%s\n",
		v.Stream, v.Cursor, v.lag(), v.Entries, orNever(v.ReadAt), orNever(v.NextAt))
	if v.HeldSeq > 0 {
		fmt.Fprintf(w, "waits at\t%d\t%s\t%s\n", v.HeldSeq, plain.Line(v.HeldAID), plain.Line(v.HeldReason))
		fmt.Fprintf(w, "what to do\t%s\n", heldHint(v.HeldReason))
	}
	if v.Failure != "" {
		fmt.Fprintf(w, "not read\t%s\n", plain.Line(v.Failure))
	}
	if v.Refused > 0 {
		fmt.Fprintf(w, "refused\t%d\t%s\t%s\n", v.Refused, orNever(v.RefusedAt), plain.Line(v.Refusal))
	}
}
