package vectors

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

type bodyVector struct {
	Remarks
	Name           string        `json:"name"`
	Kind           string        `json:"kind"`
	Hex            Hex           `json:"hex"`
	CID            string        `json:"cid,omitzero"`
	Keys           []uint64      `json:"keys"`
	TaskDoc        Hex           `json:"task_doc_hex,omitzero"`
	RequestCID     string        `json:"request_cid,omitzero"`
	VerifyAt       *uint64       `json:"verify_at,omitzero"`
	Deliverable    *string       `json:"deliverable_utf8,omitzero"`
	DeliverableCID string        `json:"deliverable_cid,omitzero"`
	Bindings       *bodyBindings `json:"bindings,omitzero"`
}

type bodyBindings struct {
	Ix         string `json:"interaction_id"`
	Requester  string `json:"requester"`
	Provider   string `json:"provider"`
	RequestCID string `json:"request_cid"`
	MsgTime    uint64 `json:"msg_time"`
	Result     string `json:"result"`
}

// bodies pins the message bodies of section F.
func bodies(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name    string       `json:"name"`
		Vectors []bodyVector `json:"vectors"`
	}
	err := decode(data, &f)
	var vs []Vector
	for _, v := range f.Vectors {
		vs = append(vs, Vector{v.Name, v.check})
	}
	return vs, err
}

func (v bodyVector) check() error {
	var members map[uint64]codec.RawMessage
	if err := codec.Unmarshal(v.Hex, &members); err != nil {
		return err
	}
	err := all(
		same("members", fmt.Sprint(slices.Sorted(maps.Keys(members))), fmt.Sprint(v.Keys)),
		v.named(),
	)
	switch v.Kind {
	case "ChatMsg":
		return all(err, writtenAgain[task.ChatMsg](v.Hex), v.message())
	case "StatusMsg":
		return all(err, writtenAgain[task.StatusMsg](v.Hex))
	case "DelegateReq":
		return all(err, writtenAgain[task.DelegateReq](v.Hex), v.delegate())
	case "ResultResp":
		return all(err, writtenAgain[task.ResultResp](v.Hex), v.result())
	}
	return fmt.Errorf("%q is no kind of body", v.Kind)
}

// named checks the content id of the body where the file states one.
func (v bodyVector) named() error {
	if v.CID == "" {
		return nil
	}
	return same("CID", codec.CID(v.Hex), v.CID)
}

func writtenAgain[B task.Body](raw []byte) error {
	b, err := task.Parse[B](raw)
	if err != nil {
		return err
	}
	again, err := task.Encode(b)
	return all(err, sameBytes("body written again", again, raw))
}

func (v bodyVector) message() error {
	m, err := task.Parse[task.ChatMsg](v.Hex)
	if err != nil {
		return err
	}
	_, err = task.ParseMetadata(m.Metadata)
	return all(err, task.CheckAll(m.Attachments))
}

// delegate checks the request, signed by the suite identity.
func (v bodyVector) delegate() error {
	d, err := task.Parse[task.DelegateReq](v.Hex)
	if err != nil {
		return err
	}
	suite, err := Suite()
	if err != nil {
		return err
	}
	err = all(
		sameBytes("task document", d.TaskDoc, v.TaskDoc),
		same("request CID", d.RequestCID(), v.RequestCID),
		task.CheckAll(d.Attachments),
	)
	if v.VerifyAt == nil {
		return all(err, fmt.Errorf("verify_at is missing"))
	}
	_, refused := d.Verify(task.Sender{AID: suite.AID(), Ix: d.InteractionID, TS: *v.VerifyAt, History: suite.History()})
	return all(err, refused, sameBytes("key history", d.KEL, suite.KEL()))
}

// result checks the receipt with the bindings the file states.
func (v bodyVector) result() error {
	r, err := task.Parse[task.ResultResp](v.Hex)
	if err != nil {
		return err
	}
	if v.Bindings == nil || v.Deliverable == nil {
		return fmt.Errorf("the bindings or the deliverable are missing")
	}
	h, err := identity.Replay(r.KEL)
	if err != nil {
		return err
	}
	b := v.Bindings
	order := task.Ordered{Requester: b.Requester, Provider: b.Provider, Ix: b.Ix, RequestCID: b.RequestCID}
	_, refused := r.CheckReceipt(order, task.Sender{AID: h.AID(), Ix: b.Ix, TS: b.MsgTime, History: h})
	return all(
		same("deliverable", string(r.Deliverable), *v.Deliverable),
		same("CID of the deliverable", codec.CID(r.Deliverable), v.DeliverableCID),
		outcome("the result", refused, b.Result == "ok"),
	)
}

// transcript pins the deliverable of a text task, section F.8.
func transcript(data []byte) ([]Vector, error) {
	var f struct {
		Remarks
		Name  string `json:"name"`
		Empty string `json:"empty_v2"`
		Valid []struct {
			Remarks
			Text     string `json:"text"`
			Messages int    `json:"messages"`
		} `json:"valid"`
		Invalid []string `json:"invalid"`
	}
	err := decode(data, &f)
	vs := []Vector{{"empty", func() error {
		b, err := task.Transcript{Version: 2, Nonce: "n", Messages: []task.Turn{}}.Bytes()
		return all(err, same("empty transcript", string(b), f.Empty))
	}}}
	for _, v := range f.Valid {
		vs = append(vs, Vector{v.Text, func() error {
			t, err := task.ParseTranscript([]byte(v.Text))
			return all(err, same("messages", len(t.Messages), v.Messages))
		}})
	}
	for _, text := range f.Invalid {
		vs = append(vs, Vector{"not " + text, func() error {
			_, err := task.ParseTranscript([]byte(text))
			return outcome("the transcript", err, false)
		}})
	}
	return vs, err
}
