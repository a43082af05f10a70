package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

const (
	// maxRequest bounds the arguments. The node has a limit of its own per
	// capability (max_args_bytes); this one holds whoever is asking.
	maxRequest = 8 << 20
	// maxCalls bounds the calls at work; beyond it the caller is told to wait.
	maxCalls = 16
)

// slots holds a token for every call at work.
var slots = make(chan struct{}, maxCalls)

// serve answers one call.
func serve(w http.ResponseWriter, r *http.Request) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	default:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "all hands are busy")
		return
	}
	work, known := capabilities[r.Header.Get("X-ANet-Capability")]
	switch {
	case r.Method != http.MethodPost:
		refuse(w, http.StatusMethodNotAllowed, "calls are POST requests")
	case !known:
		refuse(w, http.StatusNotFound, "this program does not serve that capability")
	default:
		call(w, r, work)
	}
}

func call(w http.ResponseWriter, r *http.Request, work func([]byte) answer) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, "the arguments are larger than 8 MiB")
		return
	}
	if err != nil {
		return // the caller is gone
	}
	content, err := input(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	reply(w, http.StatusOK, work(content))
}

func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, map[string]string{"error": why})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a caller that is gone is not told
}
