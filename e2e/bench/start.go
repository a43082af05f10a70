package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// start starts hubs on empty folders, and times them from the command to the
// first 200 of GET /readyz.
func start(t testing.TB, o options) []Row {
	stage.Binary(t, "anet-hub")
	var took sample
	for range o.Rounds {
		begin := time.Now()
		h := stage.StartHub(t, stage.HubConfig{})
		took = append(took, time.Since(begin).Seconds())
		_, err := h.Stop(t)
		stage.Must(t, err)
	}
	say("  %s s", took.with("%.2f"))
	return []Row{{What: "first start of an empty hub", Measured: took.with("%.2f") + " s", Target: "< 5 s", Pass: took.at(1) < 5,
		Goal: "2 s", Met: took.median() <= 2, Note: fmt.Sprintf("%d starts: initdb, schema, identity", o.Rounds)}}
}
