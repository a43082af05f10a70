package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// file is what is digested: a real one of the repository.
const file = "LICENSE"

// story is what the demo shows once everything runs.
func (n *network) story(ctx context.Context) error {
	say("who serves a capability below text? Everybody may ask")
	if _, err := n.curl(ctx, "text.*"); err != nil {
		return err
	}
	say("the other node finds who serves text.digest, and sees a card that proves it")
	aid, err := n.find(ctx, "text.digest")
	if err != nil {
		return err
	}
	out, err := n.caller.run(ctx, "card", aid)
	if fmt.Print(out); err != nil {
		return err
	}
	say("it has the file " + file + " digested")
	if err := n.digest(ctx, aid); err != nil {
		return err
	}
	say("the provider stops serving text.wordcount, and its directory entry follows")
	return n.takeAway(ctx)
}

// curl asks the directory with nothing but curl.
func (n *network) curl(ctx context.Context, expr string) (string, error) {
	url := n.url + "/agents?cap=" + expr
	fmt.Printf("$ curl -s '%s'\n", url)
	out, err := exec.CommandContext(ctx, "curl", "-sS", "--fail-with-body", url).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("curl: %w: %s", err, out)
	}
	fmt.Println(strings.TrimSpace(string(out)))
	return string(out), nil
}

func (n *network) find(ctx context.Context, capID string) (aid string, err error) {
	out, err := n.caller.run(ctx, "find", "--cap", capID, "--json")
	if err != nil {
		return "", err
	}
	var found struct {
		Agents []struct{ AID string }
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		return "", err
	}
	if len(found.Agents) != 1 {
		return "", fmt.Errorf("%d agents serve %s, want 1: %s", len(found.Agents), capID, out)
	}
	fmt.Println("found  ", found.Agents[0].AID)
	return found.Agents[0].AID, nil
}

// result is what the demo reads of a finished task.
type result struct {
	TaskID      string `json:"task_id"`
	State       string `json:"state"`
	Effect      string `json:"effect_status"`
	Receipt     string `json:"receipt_verified"`
	RequestCID  string `json:"request_cid"`
	ResultCID   string `json:"result_cid"`
	Deliverable struct {
		Evidence struct {
			Observed string `json:"observed_state"`
		} `json:"evidence"`
	} `json:"deliverable"`
}

func (n *network) digest(ctx context.Context, aid string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	args, err := json.Marshal(map[string]string{"text": string(text)})
	if err != nil {
		return err
	}
	out, err := n.caller.run(ctx, "delegate", aid, "--capability", "text.digest", "--args", string(args), "--wait", "30s", "--json")
	if err != nil {
		return err
	}
	var r result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return err
	}
	fmt.Printf("effect  %s\nreceipt %s: request %s, result %s\n", r.Effect, r.Receipt, r.RequestCID, r.ResultCID)
	if r.Effect != "OK" || r.Receipt != "verified" {
		return fmt.Errorf("the effect is %q and the receipt %q, want OK and verified:\n%s", r.Effect, r.Receipt, out)
	}
	return compare(ctx, r.Deliverable.Evidence.Observed)
}

// compare asks a program that knows nothing of us.
func compare(ctx context.Context, digest string) error {
	out, err := exec.CommandContext(ctx, "sha256sum", file).Output()
	if err != nil {
		return fmt.Errorf("sha256sum: %w", err)
	}
	want, _, _ := strings.Cut(string(out), " ")
	fmt.Printf("the provider's digest  %s\nsha256sum %s      %s\n", digest, file, want)
	if digest != want {
		return errors.New("the digests differ")
	}
	return nil
}

// takeAway changes the config and restarts the node; nothing else is needed for
// the directory to tell the truth.
func (n *network) takeAway(ctx context.Context) error {
	if _, err := n.find(ctx, "text.wordcount"); err != nil {
		return err
	}
	if err := n.configure(n.provider, "text.digest"); err != nil {
		return err
	}
	if _, err := n.provider.run(ctx, "down"); err != nil {
		return err
	}
	if out, err := n.provider.run(ctx, "up", "--detach"); err != nil {
		return err
	} else {
		fmt.Print(out)
	}
	out, err := n.curl(ctx, "text.wordcount")
	if err != nil {
		return err
	}
	var left struct{ Agents []json.RawMessage }
	if err := json.Unmarshal([]byte(out), &left); err != nil || len(left.Agents) != 0 {
		return fmt.Errorf("the directory still lists text.wordcount: %s", out)
	}
	_, err = n.find(ctx, "text.digest")
	return err
}
