package task

import (
	"strings"
	"testing"
)

// Checklist 28: an unknown status state is dropped.
func TestStatusMsgCheck(t *testing.T) {
	for _, tt := range []struct {
		state State
		ok    bool
	}{
		{Submitted, true},
		{Working, true},
		{InputRequired, true},
		{Rejected, true},
		{Canceled, true},
		{Failed, true},
		{Completed, false}, // only a result with its receipt completes a task
		{"auth-required", false},
		{"Working", false},
		{"", false},
	} {
		if err := (StatusMsg{State: tt.state}).Check(); (err == nil) != tt.ok {
			t.Errorf("Check(%q) = %v, want accepted %v", tt.state, err, tt.ok)
		}
	}
}

func TestNext(t *testing.T) {
	for _, tt := range []struct {
		name        string
		from, asked State
		want        State
		moved       bool
	}{
		{"work begins", Submitted, Working, Working, true},
		{"a question", Working, InputRequired, InputRequired, true},
		{"work goes on", InputRequired, Working, Working, true},
		{"held again", Working, Submitted, Submitted, true},
		{"an end", Working, Completed, Completed, true},
		{"an end at once", Submitted, Rejected, Rejected, true},
		{"the same again", Working, Working, Working, false},
		{"no news", Working, "", Working, false},
		{"completed is the end", Completed, Failed, Completed, false},
		{"failed is the end", Failed, Completed, Failed, false},
		{"canceled is the end", Canceled, Working, Canceled, false},
		{"rejected is the end", Rejected, InputRequired, Rejected, false},
	} {
		if got, moved := tt.from.Next(tt.asked); got != tt.want || moved != tt.moved {
			t.Errorf("%s: %s.Next(%s) = %s, %v, want %s, %v", tt.name, tt.from, tt.asked, got, moved, tt.want, tt.moved)
		}
	}
}

func TestAskedOfAMessage(t *testing.T) {
	for _, tt := range []struct {
		name, kind, meta string
		want             State
	}{
		{"a text waits for an answer", KindText, ``, InputRequired},
		{"a text while work goes on", KindText, `{"anet.state":"working"}`, Working},
		{"a text cannot end the task", KindText, `{"anet.state":"completed"}`, InputRequired},
		{"a preview says nothing", KindStreamPreview, `{"anet.state":"working"}`, ""},
		{"a cancel says nothing here", KindCancel, ``, ""},
	} {
		if got := (ChatMsg{Kind: tt.kind}).Asked(meta(t, tt.meta)); got != tt.want {
			t.Errorf("%s: Asked = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAskedOfAResult(t *testing.T) {
	for _, tt := range []struct {
		name, status, meta string
		want               State
	}{
		{"done", StatusDone, ``, Completed},
		{"failed", StatusFailed, ``, Failed},
		{"a word nobody knows ends well only by its status", "queued", ``, Completed},
		{"the metadata is finer", StatusFailed, `{"anet.state":"rejected"}`, Rejected},
		{"paid and waiting", StatusDone, `{"anet.state":"input-required"}`, InputRequired},
		{"a result cannot go on working", StatusDone, `{"anet.state":"working"}`, Completed},
		{"nor cancel", StatusFailed, `{"anet.state":"canceled"}`, Failed},
	} {
		if got := (ResultResp{Status: tt.status}).Asked(meta(t, tt.meta)); got != tt.want {
			t.Errorf("%s: Asked = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestResultStatus(t *testing.T) {
	for s, want := range map[State]string{
		Completed: StatusDone, InputRequired: StatusDone, Canceled: StatusDone,
		Failed: StatusFailed, Rejected: StatusFailed,
	} {
		if got := ResultStatus(s); got != want {
			t.Errorf("ResultStatus(%s) = %s, want %s", s, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	for r := range sentences {
		if s := r.Sentence(); !strings.HasSuffix(s, ".") || !r.Known() || strings.Contains(s, "%") {
			t.Errorf("%s: %q is no sentence", r, s)
		}
	}
	for _, tt := range []struct{ reason, want string }{
		{"", "No reason was given."},
		{"solar_flare", `The other side says: "solar_flare".`},
		{"\x1b[2J", `The other side says: "\x1b[2J".`},
		{"not_accepting ", `The other side says: "not_accepting ".`},
	} {
		if got := Reason(tt.reason).Sentence(); got != tt.want {
			t.Errorf("Sentence(%q) = %q, want %q", tt.reason, got, tt.want)
		}
	}
	if got := Reason(strings.Repeat("é", 10_000)).Sentence(); len(got) > 700 {
		t.Errorf("a long reason makes a sentence of %d bytes", len(got))
	}
}

func meta(t *testing.T, s string) Metadata {
	t.Helper()
	m, err := ParseMetadata([]byte(s))
	if err != nil {
		t.Fatalf("ParseMetadata(%s): %v", s, err)
	}
	return m
}
