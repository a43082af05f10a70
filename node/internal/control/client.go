package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/peercred"
	"github.com/anet-hub/anet/shared/errs"
)

// Reasons of failures that are no answer of the node. After ConnectionLost
// nobody knows whether the node did what was asked.
const (
	NotRunning     = "node_not_running"
	ConnectionLost = "node_connection_lost"
)

// Client is a running node.
type Client struct {
	dir  datadir.Dir
	http *http.Client
}

var _ node.API = (*Client)(nil)

// Dial makes a client for the folder's node; it connects with the first call.
func Dial(dir datadir.Dir) *Client {
	c := &Client{dir: dir}
	c.http = &http.Client{Transport: &http.Transport{DialContext: c.dial, DisableCompression: true}}
	return c
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	path, err := locate(c.dir)
	if err != nil {
		return nil, notRunning()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, notRunning()
	}
	if uid, err := peercred.UID(conn.(*net.UnixConn)); err != nil || !peercred.Friend(uid) {
		conn.Close()
		return nil, errs.New(errs.Forbidden, "control_socket_foreign", "%s was opened by another user", path).Because(err)
	}
	return conn, nil
}

// notRunning leaves the cause out: that a file is missing helps nobody who reads
// that the node is not running.
func notRunning() error {
	return errs.New(errs.Unavailable, NotRunning, "the node is not running; start it: anet up --detach")
}

// call does one operation at the node.
func call[In, Out any](ctx context.Context, c *Client, o op[In, Out], in In) (out Out, err error) {
	err = c.post(ctx, o.path(), in, &out)
	return out, err
}

func (c *Client) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return lost(ctx, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	switch {
	case err != nil:
		return lost(ctx, err)
	case resp.StatusCode != http.StatusOK:
		return failure(resp.StatusCode, answer)
	}
	return json.Unmarshal(answer, out)
}

// lost sorts what went wrong before there was an answer.
func lost(ctx context.Context, err error) error {
	if e := errs.As(err); e != nil {
		return e
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errs.New(errs.Unavailable, ConnectionLost,
		"the node went away before it answered; see whether it runs: anet status").Because(err)
}

// About asks which process answers.
func (c *Client) About(ctx context.Context) (About, error) {
	var a About
	return a, c.post(ctx, aboutPath, none{}, &a)
}

// Stop tells the node to stop and waits until it has let go of its folder.
func (c *Client) Stop(ctx context.Context) error {
	var out none
	if err := c.post(ctx, stopPath, none{}, &out); err != nil {
		return err
	}
	return Free(ctx, c.dir)
}

// lastLook is for one more answer when the time to wait is up already, on a machine
// that may be busy.
const lastLook = 10 * time.Second

// Wait asks again and again until the task is newer than seen or ctx ends.
func (c *Client) Wait(ctx context.Context, id string, seen int64) (node.Task, error) {
	for ctx.Err() == nil {
		t, err := call(ctx, c, wait, in{ID: id, Seen: seen, WaitMS: left(ctx).Milliseconds()})
		if err != nil && ctx.Err() == nil || err == nil && t.Version > seen {
			return t, err
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	return c.Task(last, id)
}

func left(ctx context.Context) time.Duration {
	until, ok := ctx.Deadline()
	if !ok {
		return maxWait
	}
	return min(max(0, time.Until(until)), maxWait)
}
