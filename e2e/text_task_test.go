package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/shared/task"
)

// A text task between two people: asked with a file, talked about, ended with
// another file, and what was said is in the signed transcript.
func TestTextTask(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	worker := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "worker", Policy: "open"})
	asker := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "asker"})
	folder := stage.Dir(t)
	letter := stage.Write(t, filepath.Join(folder, "letter.txt"), "Guten Tag\n")
	reply := stage.Write(t, filepath.Join(folder, "reply.txt"), "Good day\n")

	var asked app.Task
	asker.JSON(&asked, "delegate", worker.AID, "Translate this into English.", "--file", letter)
	stage.Until(t, stage.Patience, "the task is in the worker's inbox", func() bool {
		var inbox struct {
			Tasks []app.Task `json:"tasks"`
		}
		worker.JSON(&inbox, "inbox")
		return len(inbox.Tasks) == 1 && inbox.Tasks[0].ID == asked.ID && inbox.Tasks[0].Text == "Translate this into English."
	})
	t.Run("the worker has the file that came with it", func(t *testing.T) {
		if got := saved(t, worker, asked.ID); got["letter.txt"] != "Guten Tag\n" {
			t.Errorf("saved %q, want the letter", got)
		}
	})
	t.Run("they talk", func(t *testing.T) {
		worker.OK("message", asked.ID, "British or American?")
		stage.Until(t, stage.Patience, "the asker is asked", func() bool {
			return asker.Task(asked.ID).State == string(task.InputRequired)
		})
		asker.OK("message", asked.ID, "British.")
		stage.Until(t, stage.Patience, "the worker has the answer", func() bool {
			return strings.Contains(worker.OK("thread", asked.ID).Out, "British.")
		})
	})
	t.Run("the worker ends it", func(t *testing.T) {
		worker.OK("end", asked.ID, "Here it is.", "--file", reply)
		done := asker.Ended(asked.ID)
		if got := stage.Outcome(done); got != "completed verified" {
			t.Fatalf("%s, want completed verified", got)
		}
		if got, want := said(t, done), "provider: British or American?|requester: British.|provider: Here it is. [reply.txt]"; got != want {
			t.Errorf("the transcript says %q, want %q", got, want)
		}
		if got := saved(t, asker, asked.ID); got["reply.txt"] != "Good day\n" {
			t.Errorf("saved %q, want the reply", got)
		}
	})
	t.Run("nothing is added after the end", func(t *testing.T) {
		if out := asker.Run("message", asked.ID, "One more thing."); out.Code == 0 {
			t.Errorf("a message after the end: %s", out)
		}
	})
	t.Run("the asker may ask for the end", func(t *testing.T) {
		var second app.Task
		asker.JSON(&second, "delegate", worker.AID, "Sing.")
		stage.Until(t, stage.Patience, "the worker has it", func() bool { return worker.Run("task", "get", second.ID).Code == 0 })
		asker.OK("end", second.ID, "That is enough.")
		if got := stage.Outcome(asker.Ended(second.ID)); got != "completed verified" {
			t.Errorf("%s, want completed verified", got)
		}
	})
	t.Run("a task is withdrawn", func(t *testing.T) {
		var third app.Task
		asker.JSON(&third, "delegate", worker.AID, "Never mind.")
		stage.Until(t, stage.Patience, "the worker has it", func() bool { return worker.Run("task", "get", third.ID).Code == 0 })
		asker.OK("cancel", third.ID)
		for _, n := range []*stage.Node{asker, worker} {
			if got := n.Ended(third.ID).State; got != string(task.Canceled) {
				t.Errorf("at %s it is %s, want canceled", n.Name, got)
			}
		}
	})
}

// saved are the files of a task by name, as `anet thread --save` writes them.
func saved(t *testing.T, n *stage.Node, id string) map[string]string {
	t.Helper()
	into := stage.Dir(t)
	n.OK("thread", id, "--save", into)
	found := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(into, "*", "*"))
	stage.Must(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		stage.Must(t, err)
		found[filepath.Base(path)] = string(text)
	}
	return found
}

// said is the transcript of a result in one line.
func said(t *testing.T, done app.Task) string {
	t.Helper()
	var transcript task.Transcript
	stage.Must(t, json.Unmarshal(done.Deliverable, &transcript))
	var turns []string
	for _, turn := range transcript.Messages {
		line := turn.From + ": " + turn.Body
		for _, f := range turn.Attachments {
			line += " [" + f.Name + "]"
		}
		turns = append(turns, line)
	}
	return strings.Join(turns, "|")
}
