package node

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/enckeys"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

// stranger is an agent that follows no rules: it sends what it is told to.
type stranger struct {
	w      *world
	signer *identity.Controller
	ring   enckeys.Ring
	keyset []byte
}

func (w *world) stranger() *stranger {
	signer, err := identity.NewController(rand.Reader, time.Now())
	w.must(err)
	ring, _, err := enckeys.Ring{}.Advance(time.Now())
	w.must(err)
	ring, keyset, err := ring.Publish(signer, time.Now())
	w.must(err)
	w.hub.Register(signer.AID(), signer.KEL(), keyset)
	return &stranger{w: w, signer: signer, ring: ring, keyset: keyset}
}

// seal makes an envelope for a node; edit may spoil it first.
func (s *stranger) seal(to *running, kind, ix string, body []byte, edit ...func(*envelope.Draft)) []byte {
	keyset, err := to.Keys.Published(time.Now())
	s.w.must(err)
	set, err := enckeys.Parse(keyset)
	s.w.must(err)
	key, err := enckeys.Choose(set.Set.Keys, time.Now())
	s.w.must(err)
	now := uint64(time.Now().UnixMilli())
	d := envelope.Draft{
		To: to.aid(), Type: kind, Ix: ix, MID: envelope.NewMID(), TS: now,
		Exp: now + uint64(envelope.Lifetime.Milliseconds()), Body: body, Keys: s.keyset,
	}
	for _, e := range edit {
		e(&d)
	}
	sealed, err := envelope.Seal(s.signer, d, key.Recipient())
	s.w.must(err)
	return sealed
}

func (s *stranger) send(to *running, kind, ix string, body []byte, edit ...func(*envelope.Draft)) []byte {
	e := s.seal(to, kind, ix, body, edit...)
	s.w.hub.Put(to.aid(), e)
	return e
}

// call is the body of a capability call.
func (s *stranger) call(ix, capID string) task.DelegateReq {
	doc, err := task.NewCall(capID, nil)
	s.w.must(err)
	req, err := task.NewDelegate(s.signer, ix, doc)
	s.w.must(err)
	return req
}

// words is the body of a request in words.
func (s *stranger) words(ix string) task.DelegateReq {
	req, err := task.NewDelegate(s.signer, ix, task.NewText("do it"))
	s.w.must(err)
	return req
}

func body[B task.Body](w *world, b B) []byte {
	raw, err := task.Encode(b)
	w.must(err)
	return raw
}

// open reads the mail that came back.
func (s *stranger) open() []*envelope.Message {
	var all []*envelope.Message
	for _, m := range s.w.hub.Mail(s.signer.AID()) {
		msg, err := envelope.Open(m.Envelope, s.signer.AID(), s.ring)
		s.w.must(err)
		all = append(all, msg)
	}
	return all
}

// told are the status messages and their reasons that came back.
func (s *stranger) told() (all []string) {
	s.statuses(func(state task.State, meta task.Metadata) {
		all = append(all, string(state)+" "+string(meta.Reason())+meta.Text(task.KeyA2AError))
	})
	return all
}

func (s *stranger) statuses(see func(task.State, task.Metadata)) {
	for _, m := range s.open() {
		if m.Type != task.TypeStatus {
			continue
		}
		msg, err := task.Parse[task.StatusMsg](m.Body)
		s.w.must(err)
		meta, err := task.ParseMetadata(msg.Metadata)
		s.w.must(err)
		see(msg.State, meta)
	}
}

// results are the bodies of the results that came back.
func (s *stranger) results() (all []task.ResultResp) {
	for _, m := range s.open() {
		if m.Type == task.TypeResult {
			r, err := task.Parse[task.ResultResp](m.Body)
			s.w.must(err)
			all = append(all, r)
		}
	}
	return all
}

// result answers a request as its provider would, unless edit spoils it.
func (s *stranger) result(req *envelope.Message, edit func(*evidence.Receipt, *task.ResultResp)) []byte {
	asked, err := task.Parse[task.DelegateReq](req.Body)
	s.w.must(err)
	r := task.ResultResp{Status: task.StatusDone, Deliverable: []byte(`{"capability":"x","status":"OK"}`)}
	receipt := evidence.Receipt{
		Interaction: req.Ix, Requester: req.From, Provider: s.signer.AID(), RequestCID: asked.RequestCID(),
		ResultCID: codec.CID(r.Deliverable), CompletedAt: uint64(time.Now().UnixMilli()),
	}
	edit(&receipt, &r)
	if r.Receipt == nil {
		r.Receipt, _, err = evidence.SignReceipt(s.signer, receipt)
		s.w.must(err)
	}
	return body(s.w, r)
}

func one(all []string, what string) bool { return len(all) == 1 && slices.Contains(all, what) }
