package node

import (
	"encoding/json"
	"time"
)

// Role says on which side of a task this node stands.
type Role string

// The two roles.
const (
	Requester Role = "requester"
	Provider  Role = "provider"
)

// Order is a delegation to make: text, or a capability with its arguments.
type Order struct {
	Provider   string          `json:"provider"` // AID
	Text       string          `json:"text,omitempty"`
	Capability string          `json:"capability,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"` // a JSON object, {} when absent
	Files      []File          `json:"files,omitempty"`
	ContextID  string          `json:"context_id,omitempty"`
	Pay        *Consent        `json:"pay,omitempty"` // what may be paid if it has a price
}

// File is an attachment. Name and Mime are the sender's word; a receiver
// writes the data only into a fresh folder of its own (F.6).
type File struct {
	Name string `json:"name"`
	Mime string `json:"mime,omitempty"`
	Size int64  `json:"size"`
	CID  string `json:"cid,omitempty"` // of the data; computed when absent
	Data []byte `json:"data,omitempty"`
}

// Task is a task as the node knows it.
type Task struct {
	ID         string          `json:"task_id"`
	Role       Role            `json:"role"`
	Peer       string          `json:"peer"`
	ContextID  string          `json:"context_id,omitempty"`
	Capability string          `json:"capability,omitempty"` // empty for a text task
	Args       json.RawMessage `json:"args,omitempty"`
	Text       string          `json:"text,omitempty"` // the goal of a text task

	State           string          `json:"state"`         // submitted working input-required completed failed canceled rejected
	Effect          *string         `json:"effect_status"` // G.3; null for a text task and before the end
	Reason          string          `json:"reason"`
	Message         string          `json:"message,omitempty"` // the reason as a sentence that says what to do
	Note            string          `json:"note,omitempty"`    // the other side's words, where they say more than that
	RetryAfterMS    int64           `json:"retry_after_ms,omitempty"`
	Deliverable     json.RawMessage `json:"deliverable"`      // null before the end
	ReceiptVerified string          `json:"receipt_verified"` // verified unverified unknown
	RequestCID      string          `json:"request_cid,omitempty"`
	ResultCID       string          `json:"result_cid,omitempty"`
	Receipt         []byte          `json:"receipt,omitempty"` // the signed object
	Review          *Review         `json:"review,omitempty"`  // what this node said of it
	Payment         *Payment        `json:"payment,omitempty"` // of a call that has a price

	// Delivery is how far the delegation of a requester came: queued, sent, or
	// answered once anything came back.
	Delivery        string    `json:"delivery,omitempty"`
	ViaHub          string    `json:"via_hub,omitempty"` // AID of the hub that ours carried it to
	Attempts        int       `json:"attempts,omitempty"`
	LastError       string    `json:"last_error,omitempty"` // why the latest attempt failed
	CancelRequested bool      `json:"cancel_requested,omitempty"`
	LateResult      bool      `json:"late_result,omitempty"` // a verified result came after the end
	Ended           bool      `json:"ended"`
	Version         int64     `json:"version"` // grows with every change
	Created         time.Time `json:"created"`
	Updated         time.Time `json:"updated"`
}

// Opinion is what a requester thinks of a piece of work.
type Opinion struct {
	Rating  int    `json:"rating"` // 1 to 5
	Comment string `json:"comment,omitempty"`
}

// Review is an opinion that was signed. Published says that the hub has it.
type Review struct {
	Opinion
	At        time.Time `json:"at"`
	Published bool      `json:"published"`
}

// Query filters tasks; zero members do not filter.
type Query struct {
	Role  Role   `json:"role,omitempty"`
	Ended *bool  `json:"ended,omitempty"`
	State string `json:"state,omitempty"`
	Peer  string `json:"peer,omitempty"`
	Text  *bool  `json:"text,omitempty"` // text tasks only, or capability calls only
	// ContextID groups tasks of one conversation.
	ContextID string `json:"context_id,omitempty"`
	Limit     int    `json:"limit,omitempty"` // 1 to 500, 50 when absent
	Cursor    string `json:"cursor,omitempty"`
}

// Inbox is the question behind `anet inbox`: what others want of this node.
func Inbox() Query { return Query{Role: Provider} }

// Results is the question behind `anet results`: what this node asked for and
// has an end.
func Results() Query { ended := true; return Query{Role: Requester, Ended: &ended} }

// Page is one page of tasks.
type Page struct {
	Tasks      []Task `json:"tasks"`
	Limit      int    `json:"limit"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Thread is a task and its conversation, oldest first.
type Thread struct {
	Task     Task      `json:"task"`
	Files    []File    `json:"files,omitempty"` // of the request
	Messages []Message `json:"messages"`
}

// Message is one turn. Files carry no data here; Tasks.File fetches it.
type Message struct {
	ID    string    `json:"message_id"`
	From  Role      `json:"from"`
	Kind  string    `json:"kind"` // text end_request cancel status
	Text  string    `json:"text"`
	Files []File    `json:"files,omitempty"`
	At    time.Time `json:"at"`
	Sent  *bool     `json:"sent,omitempty"` // own messages: has the hub taken it
}
