package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"time"
)

// engine is the Docker engine behind its socket: the few requests that faults
// need, which a client library would bring a hundred packages for.
type engine struct{ http http.Client }

// A stop waits for the container, the database's up to ten seconds and a bit.
const answerWithin = time.Minute

func newEngine(socket string) *engine {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &engine{http.Client{Timeout: answerWithin, Transport: &http.Transport{DialContext: dial}}}
}

// Labels of compose, both versions of it.
const (
	labelProject = "com.docker.compose.project"
	labelService = "com.docker.compose.service"
	labelOneOff  = "com.docker.compose.oneoff"
)

// ownProject is the project of the container that this runs in.
func (e *engine) ownProject(ctx context.Context) (string, error) {
	id, err := os.Hostname()
	if err != nil {
		return "", err
	}
	var self struct {
		Config struct{ Labels map[string]string }
	}
	if err := e.ask(ctx, http.MethodGet, "/containers/"+id+"/json", nil, &self); err != nil {
		return "", fmt.Errorf("which project is this? outside of a container, name it with --project: %w", err)
	}
	return self.Config.Labels[labelProject], nil
}

// container is the id of the one container of a service.
func (e *engine) container(ctx context.Context, project, service string) (string, error) {
	filters, err := json.Marshal(map[string][]string{"label": {
		labelProject + "=" + project, labelService + "=" + service, labelOneOff + "=False",
	}})
	if err != nil {
		return "", err
	}
	var found []struct {
		ID string `json:"Id"`
	}
	if err := e.ask(ctx, http.MethodGet, "/containers/json?all=1&filters="+url.QueryEscape(string(filters)), nil, &found); err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("the project %q has %d containers of the service %s, want one", project, len(found), service)
	}
	return found[0].ID, nil
}

// post does one of the engine's verbs to a service.
func (e *engine) post(ctx context.Context, project, service, verb string) error {
	id, err := e.container(ctx, project, service)
	if err != nil {
		return err
	}
	return e.ask(ctx, http.MethodPost, "/containers/"+id+"/"+verb, nil, nil)
}

// put writes a file into a container. An image of one program has no shell that
// could.
func (e *engine) put(ctx context.Context, project, service, file, text string) error {
	id, err := e.container(ctx, project, service)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: path.Base(file), Mode: 0o644, Size: int64(len(text)), ModTime: time.Now()}); err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return e.ask(ctx, http.MethodPut, "/containers/"+id+"/archive?path="+url.QueryEscape(path.Dir(file)), &archive, nil)
}

// ask sends a request without a version, which the engine takes as its own.
func (e *engine) ask(ctx context.Context, method, target string, body io.Reader, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://docker"+target, body)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/x-tar")
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotModified: // started already
		return fmt.Errorf("the Docker engine answers %s: %s", resp.Status, bytes.TrimSpace(text))
	case answer != nil:
		return json.Unmarshal(text, answer)
	}
	return nil
}
