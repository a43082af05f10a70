package vectors

import (
	"fmt"
	"slices"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

type bodyVector struct {
	Remarks
	Name           string    `json:"name"`
	Kind           string    `json:"kind"`
	Hex            Hex       `json:"hex"`
	CID            string    `json:"cid,omitzero"`
	Keys           []int     `json:"keys"`
	TaskDoc        Hex       `json:"task_doc_hex,omitzero"`
	RequestCID     string    `json:"request_cid,omitzero"`
	VerifyAt       uint64    `json:"verify_at,omitzero"`
	Deliverable    *string   `json:"deliverable_utf8,omitzero"`
	DeliverableCID string    `json:"deliverable_cid,omitzero"`
	Bindings       *bindings `json:"bindings,omitzero"`
}

// bindings are what a result must be bound to, and whether it is.
type bindings struct {
	Interaction string `json:"interaction_id"`
	Requester   string `json:"requester"`
	Provider    string `json:"provider"`
	RequestCID  string `json:"request_cid"`
	MsgTime     uint64 `json:"msg_time"`
	Result      string `json:"result"`
}

// bodies pins inner message bodies, sections F.1 to F.5.
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
	isDelegate, isResult := v.Kind == "DelegateReq", v.Kind == "ResultResp"
	errs := []error{
		v.members(),
		unread("of a request", !isDelegate && (v.TaskDoc != nil || v.RequestCID != "" || v.VerifyAt != 0)),
		unread("of a result", !isResult && (v.Deliverable != nil || v.DeliverableCID != "" || v.Bindings != nil)),
	}
	if v.CID != "" {
		errs = append(errs, same("CID", codec.CID(v.Hex), v.CID))
	}
	return all(append(errs, v.body())...)
}

// members compares the keys of the body with those listed.
func (v bodyVector) members() error {
	var m map[int]codec.RawMessage
	if err := codec.Unmarshal(v.Hex, &m); err != nil {
		return err
	}
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return same("keys", fmt.Sprint(keys), fmt.Sprint(v.Keys))
}

func (v bodyVector) body() error {
	switch v.Kind {
	case "ChatMsg":
		m, err := again[task.ChatMsg](v.Hex)
		return all(err, task.CheckAll(m.Attachments), metadata(m.Metadata))
	case "StatusMsg":
		m, err := again[task.StatusMsg](v.Hex)
		return all(err, m.Check(), metadata(m.Metadata))
	case "DelegateReq":
		m, err := again[task.DelegateReq](v.Hex)
		return all(err, v.delegate(m))
	case "ResultResp":
		m, err := again[task.ResultResp](v.Hex)
		return all(err, v.result(m))
	default:
		return fmt.Errorf("%q is no kind of body", v.Kind)
	}
}

// again reads a body and checks that it is written back alike.
func again[B task.Body](raw []byte) (B, error) {
	b, err := task.Parse[B](raw)
	if err != nil {
		return b, err
	}
	out, err := task.Encode(b)
	return b, all(err, sameBytes("encoded again", out, raw))
}

func metadata(raw []byte) error {
	_, err := task.ParseMetadata(raw)
	return err
}

// delegate checks the request's signature by the suite identity.
func (v bodyVector) delegate(m task.DelegateReq) error {
	suite, err := Suite()
	if err != nil {
		return err
	}
	_, err = m.Verify(task.Sender{AID: suite.AID(), Ix: m.InteractionID, TS: v.VerifyAt, History: suite.History()})
	return all(err, task.CheckAll(m.Attachments), metadata(m.Metadata),
		sameBytes("task document", m.TaskDoc, v.TaskDoc),
		same("request CID", m.RequestCID(), v.RequestCID))
}

// result checks the receipt of a result against what it must be bound to.
func (v bodyVector) result(m task.ResultResp) error {
	if v.Bindings == nil || v.Deliverable == nil {
		return fmt.Errorf("a result needs bindings and a deliverable")
	}
	return all(metadata(m.Metadata),
		same("deliverable", string(m.Deliverable), *v.Deliverable),
		same("deliverable CID", codec.CID(m.Deliverable), v.DeliverableCID),
		same("result", result(v.Bindings.hold(m)), v.Bindings.Result))
}

// hold checks the receipt inside a result against the bindings.
func (b bindings) hold(m task.ResultResp) error {
	h, err := identity.Replay(m.KEL)
	if err != nil {
		return err
	}
	r, err := evidence.ParseReceipt(m.Receipt)
	if err != nil {
		return err
	}
	return all(
		same("provider's history", h.AID(), b.Provider),
		same("interaction", r.Interaction, b.Interaction),
		same("requester", r.Requester, b.Requester),
		same("provider", r.Provider, b.Provider),
		same("request CID", r.RequestCID, b.RequestCID),
		same("result CID", r.ResultCID, codec.CID(m.Deliverable)),
		same("signer", r.Env.Signer, b.Provider),
		r.Signed.Verify(h, b.MsgTime),
	)
}

// transcripts pins the deliverable of a text task, section F.8.
func transcripts(data []byte) ([]Vector, error) {
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
	for i, v := range f.Valid {
		vs = append(vs, Vector{fmt.Sprintf("valid %d", i), func() error {
			t, err := task.ParseTranscript([]byte(v.Text))
			return all(err, same("messages", len(t.Messages), v.Messages))
		}})
	}
	for i, text := range f.Invalid {
		vs = append(vs, Vector{fmt.Sprintf("invalid %d", i), func() error {
			_, err := task.ParseTranscript([]byte(text))
			return outcome("the text", err, false)
		}})
	}
	return vs, err
}
