package task

// State is where a task stands, as both sides name it.
type State string

// The states. The last four end a task.
const (
	Submitted     State = "submitted"
	Working       State = "working"
	InputRequired State = "input-required"
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	Rejected      State = "rejected"
)

// Terminal reports whether nothing can follow.
func (s State) Terminal() bool {
	switch s {
	case Completed, Failed, Canceled, Rejected:
		return true
	}
	return false
}

// Next gives the state of a requester's task after news that asks for another,
// and whether it moved. Nothing leaves a terminal state: what comes later is
// recorded and changes nothing. No news is "".
func (s State) Next(asked State) (State, bool) {
	if s.Terminal() || asked == "" || asked == s {
		return s, false
	}
	return asked, true
}

// Asked is the state a text of the provider asks for: it waits for an answer
// unless its metadata says that work goes on.
func (m ChatMsg) Asked(meta Metadata) State {
	switch {
	case m.Kind != KindText:
		return ""
	case meta.State() == Working:
		return Working
	}
	return InputRequired
}

// Asked is the state a result asks for. What its metadata says counts only
// when a result can end in it.
func (r ResultResp) Asked(meta Metadata) State {
	switch asked := meta.State(); asked {
	case Completed, Failed, Rejected, InputRequired:
		return asked
	}
	if r.Status == StatusFailed {
		return Failed
	}
	return Completed
}
