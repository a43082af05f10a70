package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anet-hub/anet/node/internal/attempt"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/task"
)

// Headers that tell the program what it is called for.
const (
	HeaderCapability = "X-ANet-Capability"
	HeaderCaller     = "X-ANet-Caller"
	HeaderTask       = "X-ANet-Task"
)

// Invoke sends the call to its program.
func (p *Provider) Invoke(ctx context.Context, call provider.Call) provider.Outcome {
	prog, ok := p.find(call.Capability)
	if !ok {
		return provider.Unavailable(task.CapabilityNotServed, "no program answers this capability")
	}
	if len(call.Files) > 0 {
		return provider.Outcome{Status: effect.Failed, Reason: task.RefusedByService, Message: "this capability takes no files"}
	}
	ctx, cancel := context.WithTimeout(ctx, prog.limit)
	defer cancel()
	req, err := prog.request(ctx, call)
	if err != nil {
		return provider.Unavailable(task.Unavailable, "the call could not be passed on")
	}
	began := time.Now()
	req, watch := attempt.Watch(req)
	resp, err := prog.client.Do(req)
	if err != nil {
		return broken(ctx, watch)
	}
	defer resp.Body.Close()
	r := reply{id: call.Capability, resp: resp, ctx: ctx, watch: watch, began: began}
	return r.outcome()
}

// broken is a call that ended without an answer.
func broken(ctx context.Context, watch *attempt.Attempt) provider.Outcome {
	switch {
	case !watch.MayHaveArrived():
		return provider.Unavailable(task.Unavailable, "the program behind this capability is not running")
	case errors.Is(ctx.Err(), context.DeadlineExceeded): // its own or its caller's limit
		return provider.Unverified(task.Timeout, "the program took too long; whether it did its work is not known")
	case ctx.Err() != nil:
		return provider.Unverified(task.Interrupted, "the call was interrupted; whether it did its work is not known")
	}
	return provider.Unverified(task.ConnectionLost, "the program broke off; whether it did its work is not known")
}

func (p *program) request(ctx context.Context, call provider.Call) (*http.Request, error) {
	args, err := withoutReserved(call.Args)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.target, bytes.NewReader(args))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // a request that broke off is never sent twice
	req.Header.Set("User-Agent", "anet")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set(HeaderCapability, call.Capability)
	req.Header.Set(HeaderCaller, call.Caller)
	req.Header.Set(HeaderTask, call.TaskID)
	token, err := p.token()
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, err
}

// token is read anew for every call, so that it can be changed without a
// restart; "" where the program wants none.
func (p *program) token() (string, error) {
	if p.tokenFile == "" {
		return "", nil
	}
	data, err := readToken(p.tokenFile)
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = errors.New("the token file is empty")
	}
	return string(bytes.TrimSpace(data)), err
}

// maxToken is more than any program takes in a header.
const maxToken = 16 << 10

// readToken opens without waiting and reads no further than a token goes: a pipe
// or a device would hold every call, or fill the memory.
func readToken(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("the token file is no regular file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err == nil && len(data) > maxToken {
		err = fmt.Errorf("the token file has more than %d bytes", maxToken)
	}
	return data, err
}

// withoutReserved takes out the arguments whose names begin with '$'. They are
// kept for the node's own words to the program, which no caller may forge
// (wire 2, section O).
func withoutReserved(args []byte) ([]byte, error) {
	if len(args) == 0 {
		return []byte("{}"), nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(args, &members); err != nil {
		return nil, err
	}
	reserved := 0
	for name := range members {
		if strings.HasPrefix(name, "$") {
			delete(members, name)
			reserved++
		}
	}
	if reserved == 0 && members != nil {
		return args, nil
	}
	return json.Marshal(members, json.Deterministic(true))
}
