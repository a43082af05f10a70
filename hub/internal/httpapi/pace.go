package httpapi

import (
	"net/http"
	"time"
)

// Nobody holds a connection, or memory that others wait for, by being slow: a
// body and an answer have grace whatever their size, and what is longer has to
// keep up least bytes a second. What no body and no answer set a deadline for
// has begun after idle, the longest poll included.
const (
	grace = 20 * time.Second
	least = 32 << 10
	idle  = 2 * time.Minute
)

// allowance is how long n bytes may take.
func allowance(n int64) time.Duration { return grace + time.Duration(n/least)*time.Second }

// limitTime gives a request its first deadlines. The one for the body is there
// because the server reads on, without a word, what a handler left unread.
func limitTime(w http.ResponseWriter, r *http.Request) {
	beginAnswer(w) // a recorder in a test has no deadlines
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(grace))
	}
}

// limitAnswer gives the writing of n bytes its deadline.
func limitAnswer(w http.ResponseWriter, n int64) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(allowance(n)))
}

// beginAnswer gives an answer its first deadline anew, where a large body may have
// used up the one it had, and other hubs are asked before there is an answer.
func beginAnswer(w http.ResponseWriter) { giveTime(w, idle) }

// giveTime is for an answer that others are asked for first.
func giveTime(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
}
