package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/effect"
)

func (p *Program) showTask(t node.Task) error {
	return p.show(t, func(w io.Writer) { printTask(w, t) })
}

func printTask(w io.Writer, t node.Task) {
	fmt.Fprintf(w, "task\t%s\n", line(t.ID))
	fmt.Fprintf(w, "%s\t%s\n", other(t.Role), t.Peer)
	if t.Capability != "" {
		fmt.Fprintf(w, "calls\t%s %s\n", line(t.Capability), line(compact(t.Args)))
	} else {
		fmt.Fprintf(w, "text\t%s\n", short(line(t.Text), 200))
	}
	fmt.Fprintf(w, "state\t%s\n", stateOf(t))
	if t.ViaHub != "" {
		fmt.Fprintf(w, "forwarded\tvia the hub %s\n", line(t.ViaHub))
	}
	if t.Reason != "" {
		fmt.Fprintf(w, "reason\t%s: %s\n", line(t.Reason), line(t.Message))
	}
	if t.Note != "" {
		fmt.Fprintf(w, "note\t%s\n", line(t.Note))
	}
	printPayment(w, t)
	if t.Reason == "" && doubtful(t) {
		fmt.Fprintf(w, "careful\tit may have happened; check before asking again\n")
	}
	if t.RetryAfterMS > 0 {
		fmt.Fprintf(w, "try again\tin %s\n", time.Duration(t.RetryAfterMS)*time.Millisecond)
	}
	if t.Review != nil {
		fmt.Fprintf(w, "reviewed\t%s\n", reviewed(*t.Review))
	}
	printResult(w, t)
}

// doubtful is an end after which asking once more could double the effect. The
// sentences of our own reasons say so; other programs may give none.
func doubtful(t node.Task) bool {
	return t.Ended && t.Effect != nil && outcome(t) == exitUnverified && effect.Status(*t.Effect).MayHaveHappened()
}

func other(r node.Role) string {
	if r == node.Provider {
		return "asked by"
	}
	return "provider"
}

func stateOf(t node.Task) string {
	s := line(t.State)
	if t.Effect != nil {
		s += ", effect " + line(*t.Effect)
	}
	if at := stage(t); t.Role == node.Requester && !t.Ended && at != line(t.State) {
		s += ", " + at
	}
	if t.CancelRequested && !t.Ended {
		s += ", asked to stop"
	}
	if t.LateResult {
		s += "; a result came after that"
	}
	return s
}

// printResult shows a result together with what it is worth, never without.
func printResult(w io.Writer, t node.Task) {
	if !present(t.Deliverable) {
		return
	}
	fmt.Fprintf(w, "receipt\t%s\n", line(t.ReceiptVerified))
	printJSON(w, "result", t.Deliverable)
}

func printJSON(w io.Writer, what string, raw json.RawMessage) {
	var pretty bytes.Buffer
	if json.Indent(&pretty, raw, "", "  ") != nil {
		pretty.Write(raw)
	}
	fmt.Fprintf(w, "%s\n%s\n", what, text(pretty.String()))
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return short(b.String(), 200)
}

func printThread(w io.Writer, t node.Thread) {
	printTask(w, t.Task)
	printFiles(w, t.Files)
	for _, m := range t.Messages {
		fmt.Fprintf(w, "\n%s %s%s\n", clock(m.At), m.From, kindOf(m))
		if m.Text != "" {
			fmt.Fprintln(w, indent(text(m.Text)))
		}
		printFiles(w, m.Files)
	}
}

func printFiles(w io.Writer, files []node.File) {
	for _, f := range files {
		fmt.Fprintf(w, "  [%s, %d bytes, %s]\n", line(f.Name), f.Size, f.CID)
	}
}

func kindOf(m node.Message) (s string) {
	if m.Kind != "text" {
		s = " (" + strings.ReplaceAll(line(m.Kind), "_", " ") + ")"
	}
	if m.Sent != nil && !*m.Sent {
		s += ", not sent yet"
	}
	return s
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
