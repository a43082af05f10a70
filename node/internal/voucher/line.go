package voucher

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/anet-hub/anet/node/internal/attempt"
	"github.com/anet-hub/anet/shared/errs"
)

// maxAnswer bounds what anybody answers: a service says at most 1 MiB, and JSON may
// grow when it is written again.
const maxAnswer = 4 << 20

// Line is the way to a gateway and to sellers. Neither is this node's hub by
// necessity, so that it follows no redirection and reads no more than it must.
type Line struct{ http *http.Client }

// NewLine makes one.
func NewLine() *Line {
	return &Line{&http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 128 << 10,
			DisableCompression:     true,
			DisableKeepAlives:      true, // a connection that is kept may be gone when it is used
			ForceAttemptHTTP2:      true,
		},
	}}
}

// answer is what somebody said, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
	wait   time.Duration // before it makes sense to come again
}

// send asks once. arrived says that the other end may have seen the request,
// whatever came back.
func (l *Line) send(ctx context.Context, method, url string, header http.Header, body []byte) (a answer, arrived bool, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return a, false, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", "anet")
	r, watch := attempt.Watch(r)
	resp, err := l.http.Do(r)
	if err != nil {
		return a, watch.MayHaveArrived(), err
	}
	defer resp.Body.Close()
	a = answer{status: resp.StatusCode, header: resp.Header, wait: attempt.RetryAfter(resp.Header, time.Now())}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(a.body) > maxAnswer {
		err = errs.New(errs.BadGateway, "answer_too_large", "the answer has more than %d bytes", maxAnswer)
	}
	return a, true, err
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
