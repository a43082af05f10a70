package dispatch

import (
	"encoding/json"
	"maps"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/task"
)

// Answer ends a call with its outcome: deliverable, receipt, state and the
// message that tells the requester, all in this transaction.
func (d *Dispatch) Answer(tx *journal.Tx, k *journal.Task, out provider.Outcome) error {
	bill, err := billOf(tx, k.ID)
	if err != nil {
		return err
	}
	deliverable, err := deliverableOf(k.Capability, out, bill).Bytes()
	if err != nil {
		// A provider's metrics that are no JSON must not cost the requester its answer.
		bad := provider.Unverified(task.BadAnswer, "the provider's answer cannot be written down")
		if deliverable, err = deliverableOf(k.Capability, bad, bill).Bytes(); err != nil {
			return err
		}
		out = bad
	}
	k.Effect, k.Reason, k.Note, k.RetryAfter = string(out.Status), string(reasonOf(out)), out.Message, out.RetryAfter
	state := out.Status.State(bill.paid())
	meta := metadataOf(out, state)
	bill.tell(meta)
	return d.conclude(tx, k, deliverable, state, meta)
}

func deliverableOf(capID string, out provider.Outcome, b bill) effect.Deliverable {
	v := effect.New(capID, out.Status)
	v.Verifiable, v.Metrics, v.Message, v.Evidence = out.Verifiable, out.Metrics, out.Message, out.Evidence
	b.addTo(&v)
	return v
}

// reasonOf never leaves an UNAVAILABLE without one (G.3).
func reasonOf(out provider.Outcome) task.Reason {
	if out.Status == effect.Unavailable && out.Reason == "" {
		return task.Unavailable
	}
	return out.Reason
}

func metadataOf(out provider.Outcome, state task.State) map[string]any {
	m := map[string]any{
		task.KeyState:        state,
		task.KeyEffectStatus: out.Status,
	}
	if r := reasonOf(out); r != "" {
		m[task.KeyReason] = r
	}
	if out.RetryAfter > 0 {
		m[task.KeyRetryAfter] = out.RetryAfter.Milliseconds()
	}
	return m
}

// CompleteText ends a text task with the conversation as its deliverable (F.8).
func (d *Dispatch) CompleteText(tx *journal.Tx, k *journal.Task) error {
	turns, err := transcript(tx, k.ID)
	if err != nil {
		return err
	}
	deliverable, err := task.NewTranscript(turns).Bytes()
	if err != nil {
		return err
	}
	return d.conclude(tx, k, deliverable, task.Completed, map[string]any{task.KeyState: task.Completed})
}

func transcript(tx *journal.Tx, id string) ([]task.Turn, error) {
	said, err := tx.Messages(id)
	if err != nil {
		return nil, err
	}
	files, err := tx.Files(id)
	if err != nil {
		return nil, err
	}
	var turns []task.Turn
	for _, m := range said {
		meta, err := task.ParseMetadata(m.Metadata)
		if err != nil || !task.Conversation(task.ChatMsg{Kind: m.Kind}, meta) {
			continue
		}
		turns = append(turns, task.Turn{From: string(m.From), Body: m.Body, Attachments: files[m.Seq]})
	}
	return turns, nil
}

// conclude signs the receipt and puts the result on its way.
func (d *Dispatch) conclude(tx *journal.Tx, k *journal.Task, deliverable []byte, state task.State, meta map[string]any) error {
	signer := d.signer()
	receipt := evidence.Receipt{
		Interaction: k.ID, Requester: k.Peer, Provider: signer.AID(), RequestCID: k.RequestCID,
		ResultCID: codec.CID(deliverable), CompletedAt: uint64(tx.Now().UnixMilli()),
	}
	signed, _, err := evidence.SignReceipt(signer, receipt)
	if err != nil {
		return err
	}
	k.Deliverable, k.Receipt, k.ResultCID = deliverable, signed, receipt.ResultCID
	k.To(state, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	if err := tx.AddEvidence(evidenceOf(*k)); err != nil {
		return err
	}
	return d.sendResult(tx, k, meta)
}

func evidenceOf(k journal.Task) journal.Evidence {
	return journal.Evidence{
		Task: k.ID, Role: k.Role, Peer: k.Peer, Capability: k.Capability,
		RequestCID: k.RequestCID, ResultCID: k.ResultCID, Receipt: k.Receipt,
	}
}

func (d *Dispatch) sendResult(tx *journal.Tx, k *journal.Task, meta map[string]any) error {
	metadata, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	body, err := task.Encode(task.ResultResp{
		Status: task.ResultStatus(k.State), Deliverable: k.Deliverable, Receipt: k.Receipt, Metadata: metadata,
	})
	if err != nil {
		return err
	}
	return d.outbox.Post(tx, to(k, task.TypeResult, body))
}

// to addresses a message to the task's peer, under the identity kept with it.
func to(k *journal.Task, kind string, body []byte) outbox.Draft {
	return outbox.Draft{
		Task: k.ID, Peer: k.Peer, Type: kind, Body: body,
		To: known.Identity{KEL: k.PeerKEL, Keys: k.PeerKeys},
	}
}

// Canceled ends a task its requester withdrew, without a receipt: there is no
// result to receipt.
func (d *Dispatch) Canceled(tx *journal.Tx, k *journal.Task, why task.Reason) error {
	k.CancelRequested, k.Reason = true, string(why)
	words := ""
	switch {
	case k.Started:
		words = "The work had begun; its effect may have happened."
		k.Effect, k.Note = string(effect.Unverified), words
	case k.Capability != "":
		k.Effect = string(effect.Unavailable)
	}
	k.To(task.Canceled, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	return d.Tell(tx, k, task.Canceled, words, nil)
}

// Working tells the requester that the task is being looked at.
func (d *Dispatch) Working(tx *journal.Tx, k *journal.Task) error {
	k.To(task.Working, tx.Now())
	if err := tx.PutTask(k); err != nil {
		return err
	}
	return d.Tell(tx, k, task.Working, "", nil)
}

// Tell puts a status message on its way. More is said in its metadata beside the
// task's reason and effect, or in their place.
func (d *Dispatch) Tell(tx *journal.Tx, k *journal.Task, s task.State, words string, more map[string]any) error {
	meta := map[string]any{}
	if k.Reason != "" {
		meta[task.KeyReason] = k.Reason
	}
	if k.Effect != "" {
		meta[task.KeyEffectStatus] = k.Effect
	}
	maps.Copy(meta, more)
	body, err := StatusBody(s, words, meta, tx.Now().UnixMilli())
	if err != nil {
		return err
	}
	return d.outbox.Post(tx, to(k, task.TypeStatus, body))
}

// StatusBody encodes news of a state; meta may be empty.
func StatusBody(s task.State, words string, meta map[string]any, at int64) ([]byte, error) {
	msg := task.StatusMsg{State: s, Text: words, At: at}
	if len(meta) > 0 {
		m, err := json.Marshal(meta)
		if err != nil {
			return nil, err
		}
		msg.Metadata = m
	}
	return task.Encode(msg)
}
